// Watches over the page's program and loads the page anew when it is dead: when it was broken from the start, or gives
// no sign of life. A script of its own without any import, so that nothing that kills the program kills this as well. It
// never loads the page while the terminal does not answer, for then there would be no page at all; and less and less
// often while loading does not help. (A program that loops for good leaves no time for this one either: then the screen
// stops telling that it paints, and whoever runs the browser starts it anew, see `boxman screen`.)
//
// Its words are here, in all languages: the catalogues come by the program that has failed. The players' display, which is
// nobody's to mend, has none (data-without-words).

(() => {
  const LOOK_MS = 500;
  const START_MAX_MS = 20000; // from the page's beginning to the first sign of life, on a slow machine
  const SILENCE_MAX_MS = 5000;
  const PAUSE_MS = 2000; // before the first reload, then twice as long each time
  const PAUSE_MAX_MS = 60000;
  const LIVED_MS = 120000; // a page that has lived for so long was well
  const ANSWER_MS = 3000;
  const PAINT_EVERY_MS = 2000;
  const MEMORY = "watchdog";

  const WORDS = {
    en: ["This page has failed.", "Nothing is lost. It is loaded anew by itself."],
    es: ["Esta página ha fallado.", "No se ha perdido nada. Se vuelve a cargar sola."],
    pt: ["Esta página falhou.", "Nada se perdeu. Volta a carregar sozinha."],
    "zh-Hant": ["此頁面發生故障。", "沒有遺失任何資料，頁面會自動重新載入。"],
  };

  const began = performance.now();
  let heardAt = null; // the last sign of life; null before the first
  let looked = began;
  let failedAt = null;
  let asking = false;

  // Called by the page's program when it has drawn what there is to draw.
  globalThis.signOfLife = () => {
    heardAt = performance.now();
  };

  const tried = () => Number(sessionStorage.getItem(MEMORY) ?? 0);

  // The style sheet may be what did not come.
  function bar() {
    const bar = document.createElement("div");
    Object.assign(bar, { id: "failed-page", role: "alert", hidden: true });
    bar.dataset.testid = "failed-page";
    bar.style.cssText = "flex: none; padding: 0.45rem 0.8rem; background: #c81e1e; color: #fff; font-size: 1.15rem";
    for (const [language, [what, more]] of Object.entries(WORDS)) {
      const line = document.createElement("p");
      line.lang = language;
      const strong = document.createElement("strong");
      strong.textContent = what;
      line.append(strong, " ", more);
      bar.append(line);
    }
    document.body.prepend(bar);
    return bar;
  }

  const words = "withoutWords" in document.currentScript.dataset ? null : bar();

  function show(failed) {
    failedAt = failed ? performance.now() : null;
    document.body.toggleAttribute("data-failed", failed);
    if (words) words.hidden = !failed;
  }

  async function reload() {
    asking = true;
    try {
      const answer = await fetch("/api/state", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
      if (answer.ok) {
        sessionStorage.setItem(MEMORY, tried() + 1);
        location.reload();
        return;
      }
    } catch {
      // It is asked again with the next look.
    }
    asking = false;
  }

  function look() {
    const now = performance.now();
    // After a sleep, or while the page is behind another, nobody was able to give a sign.
    const slept = now - looked > 4 * LOOK_MS || document.visibilityState !== "visible";
    looked = now;
    if (slept && heardAt !== null) heardAt = now;
    const isDead = heardAt === null ? now - began > START_MAX_MS : now - heardAt > SILENCE_MAX_MS;
    if (!isDead) {
      if (failedAt !== null && heardAt !== null) show(false);
      if (heardAt !== null && now - began > LIVED_MS) sessionStorage.removeItem(MEMORY);
    } else if (failedAt === null) show(true);
    const pause = Math.min(PAUSE_MS * 2 ** tried(), PAUSE_MAX_MS);
    if (failedAt !== null && !asking && now - failedAt > pause) reload();
  }

  // A script that cannot be loaded, read or run to its end, before the first sign of life.
  const broken = () => {
    if (heardAt === null && failedAt === null) show(true);
  };
  addEventListener("error", broken, true);
  setInterval(look, LOOK_MS);

  // The screen of the table itself tells that it paints. Which one that is, its address said when it was started; so it
  // is for as long as that window is open, whichever pages it shows, and no longer.
  const screenName = new URLSearchParams(location.search).get("screen");
  if (screenName) sessionStorage.setItem("screen", screenName);
  const screen = sessionStorage.getItem("screen");

  function tellPainted() {
    const isWell = heardAt !== null && performance.now() - heardAt < SILENCE_MAX_MS;
    if (!isWell) return;
    // The second frame comes when the first was painted.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        fetch("/api/painted", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ screen }),
          signal: AbortSignal.timeout(ANSWER_MS),
        }).catch(() => {});
      }),
    );
  }
  if (screen) setInterval(tellPainted, PAINT_EVERY_MS);
})();
