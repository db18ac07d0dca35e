"""Where things are on a table's computer, and who they belong to."""

CONFIGURATION_FOLDER = "/etc/boxman"
CONFIGURATION = f"{CONFIGURATION_FOLDER}/table.toml"
DATA = "/var/lib/boxman"
UNITS = "/etc/systemd/system"
WANTED = f"{UNITS}/multi-user.target.wants"
# Holds a folder "releases" with one for each release, and a link "current" to the one in force.
RELEASES_FOLDER = "/opt/boxman"
WAITING_PAGE = "/usr/local/share/boxman/waiting.html"

USER = "boxman"
KIOSK_USER = "boxman-kiosk"

# The first line of every file that is boxman's own: a file without it is somebody else's.
MARK = 'Made by "boxman provision install"; what is changed here is overwritten.'
