"""When a serial line has become noisy: said once, on the rate at which frames are lost, and taken back once."""

from collections import deque
from typing import Literal

# A good line loses none. One burst may cost a few; more than this within a minute is a fault that grows.
NOISY_FRAMES = 10
WINDOW_SECONDS = 60
# So long without another such minute, and the line counts as good again.
QUIET_SECONDS = 300


class LineNoise:
    """Is told of lost frames, with the time in milliseconds, and says what changes. Keeps an entry a second at most."""

    def __init__(self) -> None:
        self._noisy = False
        self._noisy_until_ms = 0
        # How many frames were lost, by second, for the last WINDOW_SECONDS.
        self._lost: deque[tuple[int, int]] = deque()

    @property
    def recent(self) -> int:
        """Frames lost within the last WINDOW_SECONDS."""
        return sum(frames for _, frames in self._lost)

    def feed(self, now_ms: int, lost: int) -> Literal["noisy", "quiet"] | None:
        """Take the number of frames lost since the last call; call often, also with 0."""
        second = now_ms // 1000
        while self._lost and self._lost[0][0] <= second - WINDOW_SECONDS:
            self._lost.popleft()
        if lost and self._lost and self._lost[-1][0] == second:
            self._lost[-1] = (second, self._lost[-1][1] + lost)
        elif lost:
            self._lost.append((second, lost))
        if self.recent > NOISY_FRAMES:
            self._noisy_until_ms = now_ms + QUIET_SECONDS * 1000
            if not self._noisy:
                self._noisy = True
                return "noisy"
        elif self._noisy and now_ms >= self._noisy_until_ms:
            self._noisy = False
            return "quiet"
        return None
