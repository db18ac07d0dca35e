#!/usr/bin/env bash
# Virtual machines that stand in for a table's computer: boxman's drivers on a GPIO chip of the kernel's, a terminal on
# file systems that are full, a terminal installed on a whole Debian, a card that makes a unit of another one, and a
# terminal on disks whose power is cut.
#
#   rig.sh            everything from nothing: prepares what is missing, boots the machines, prints PASS or FAIL a check
#   rig.sh STAGE ...  single stages: packages kernel module system booted initramfs program releases drivers full_disk
#                     installation figures screen first_boot cuts
#   VM_CUTS=10 rig.sh cuts    as many cuts of the power, instead of 100
#
# The machines are QEMU's own emulation (no KVM needed) with Debian's 6.1 kernel. The GPIO chip is the kernel's gpio-sim,
# which Debian leaves out: it is built as a module from Debian's own source package. Everything that is downloaded or
# built stays in the folder that VM_WORK names (tests/vm/.rig), so that a second run only boots. Runs on Debian 12 as
# root: for installing packages, and because debootstrap changes root.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=${PYTHON:-$repository/.venv/bin/python}
work=${VM_WORK:-$here/.rig}
mkdir -p "$work/log"
work=$(cd "$work" && pwd)

# What the host needs beyond a bare Debian 12. libelf1 is for the kernel's own build tools.
host_packages=(qemu-system-x86 debootstrap cpio busybox-static kmod e2fsprogs xz-utils make gcc-12 libelf1 mtools)
# The distribution's kernel.
kernel_series=6.1
# How often the power of a terminal is cut.
cuts=${VM_CUTS:-100}
# Some five times what the checks take on one of two busy cores.
boot_seconds_max=900
# The lock file says which of the others; it does not hold lgpio, which only a table's computer needs.
lgpio=lgpio==0.2.2.0
drivers_need=(gpiozero colorzero pyserial)
terminal_needs=(anyio babel certifi cffi click h11 httpcore httpx idna nats-py packaging pycparser pynacl starlette typing-extensions uvicorn)
guest_python=3.11
# What the whole system has that boxman is installed on, beyond Debian's least.
booted_has=systemd,systemd-sysv,systemd-timesyncd,udev,dbus,python3,kmod,e2fsprogs,procps
# And what its package recommends for a screen, with what these need to draw without a display's own processor.
screen_has=$booted_has,iproute2,libpam-systemd,dbus-user-session,polkitd,cage,xwayland,chromium,fonts-dejavu-core,libgl1-mesa-dri
# python3-cffi-backend stands for a virtual package, which debootstrap does not know.
first_boot_has=$booted_has,cloud-init,openssh-server,sudo,python3-cffi-backend

say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'FAIL  %s\n' "$*" >&2; exit 1; }

apt_() { apt-get -qq -o APT::Sandbox::User=root -o DPkg::Lock::Timeout=120 "$@"; }

# Once a run: old package lists name files that the archive no longer has.
lists_are_fresh=
refresh_package_lists() {
  [ -n "$lists_are_fresh" ] || apt_ update
  lists_are_fresh=yes
}

# Unpacks the package $1 into the folder $2; the downloaded file goes away, because what was unpacked stays.
unpack() {
  local folder=$work/download
  rm -rf "$folder"
  mkdir "$folder"
  (cd "$folder" && apt_ download "$1")
  du -m "$folder"/*.deb | awk -v name="$1" '{ print "   " name ": " $1 " MB" }'
  mkdir -p "$2"
  dpkg -x "$folder"/*.deb "$2"
  rm -r "$folder"
}

# The kernel version is chosen once: image, headers and module must be of one version to the letter.
kernel_version() {
  if [ ! -s "$work/kernel-version" ]; then
    apt-cache depends linux-image-amd64 |
      sed -n "s/^ *Depends: linux-image-\($kernel_series\..*-amd64\)\$/\1/p" > "$work/kernel-version"
    [ -s "$work/kernel-version" ] || fail "apt knows no kernel $kernel_series; this rig is for Debian 12"
  fi
  cat "$work/kernel-version"
}

# Whether the file $1 is missing or older than one of the files that follow.
outdated() {
  local product=$1 source
  shift
  [ -e "$product" ] || return 0
  for source; do [ "$source" -nt "$product" ] && return 0; done
  return 1
}

# A disk image $2 of the size $3 with what is in the folder $1. It has no journal, because it is only ever read.
make_disk() {
  rm -f "$2.new"
  mke2fs -q -t ext4 -b 4096 -O ^has_journal -m 0 -d "$1" "$2.new" "$3" > /dev/null
  mv "$2.new" "$2"
}

stage_packages() {
  local package missing=()
  for package in "${host_packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || fail "run as root, or install these packages first: ${missing[*]}"
  say "installing ${missing[*]}"
  refresh_package_lists
  DEBIAN_FRONTEND=noninteractive apt_ install -y --no-install-recommends "${missing[@]}" > "$work/log/packages.txt" 2>&1 ||
    { tail -5 "$work/log/packages.txt" >&2; fail "the packages cannot be installed"; }
}

stage_kernel() {
  local version
  [ -e "$work/vmlinux" ] && return
  refresh_package_lists
  version=$(kernel_version)
  say "fetching the kernel $version"
  unpack "linux-image-$version" "$work/kernel"
  # Uncompressed it is booted directly (PVH), which spares the emulation some three seconds of decompressing.
  python3 - "$work/kernel/boot/vmlinuz-$version" "$work/vmlinux" <<'PYTHON'
import lzma, pathlib, sys
image = pathlib.Path(sys.argv[1]).read_bytes()
packed = image[image.index(b"\xfd7zXZ\0"):]
pathlib.Path(sys.argv[2]).write_bytes(lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(packed))
PYTHON
}

stage_module() {
  local version abi headers package source=$work/source build=$work/module
  outdated "$build/gpio-sim.ko" "$here/patch_simulator.py" || return 0
  version=$(kernel_version)
  abi=${version%-amd64}
  headers=$work/headers/usr/src
  if [ ! -e "$work/headers-are-whole" ]; then
    say "fetching the kernel's headers"
    refresh_package_lists
    for package in "linux-kbuild-$kernel_series" "linux-headers-$abi-common" "linux-headers-$version"; do
      unpack "$package" "$work/headers"
    done
    touch "$work/headers-are-whole"
  fi
  # The package's own Makefile names a folder below /usr/src, where nothing is installed.
  echo "include $headers/linux-headers-$abi-common/Makefile" > "$headers/linux-headers-$version/Makefile"
  if [ ! -e "$source/drivers/gpio/gpio-sim.c" ]; then
    say "fetching the kernel's source for three files of it"
    unpack "linux-source-$kernel_series" "$work/source-package"
    mkdir -p "$source"
    tar -xJf "$work/source-package/usr/src/linux-source-$kernel_series.tar.xz" -C "$source" --strip-components=1 \
      "linux-source-$kernel_series"/{drivers/gpio/gpio-sim.c,drivers/gpio/gpiolib.h,kernel/irq/irq_sim.c}
    rm -r "$work/source-package"
  fi
  say "building gpio-sim"
  rm -rf "$build"
  mkdir "$build"
  cp "$source/drivers/gpio/gpiolib.h" "$build/"
  python3 "$here/patch_simulator.py" "$source" "$build"
  printf 'obj-m := gpio-sim.o\ngpio-sim-y := gpio-sim-core.o irq_sim.o\n' > "$build/Kbuild"
  make -C "$headers/linux-headers-$version" M="$build" modules > "$work/log/module.txt" 2>&1 ||
    { tail -20 "$work/log/module.txt" >&2; fail "gpio-sim does not build"; }
  strip --strip-debug "$build/gpio-sim.ko"
}

# The root file system: Debian with its own Python and, from the lock file, what the drivers import.
stage_system() {
  local root=$work/root
  outdated "$work/root.img" "$repository/requirements.lock" "$here/rig.sh" "$here/guest/boxman" || return 0
  if [ ! -e "$work/root-is-whole" ]; then
    say "fetching the guest's Debian"
    rm -rf "$root"
    debootstrap --variant=minbase --include=python3-minimal,python3 bookworm "$root" > "$work/log/debootstrap.txt" ||
      { tail -5 "$work/log/debootstrap.txt" >&2; fail "debootstrap failed"; }
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale,info}/*
    mkdir "$root/boxman"
    touch "$work/root-is-whole"
  fi
  install_libraries "$root"
  install "$here/guest/boxman" "$root/usr/bin/boxman"
  say "writing the guest's disk"
  make_disk "$root" "$work/root.img" 320M
}

# What the drivers and the terminal import, from the lock file, into the file system $1.
install_libraries() {
  local packages=$1/usr/local/lib/python$guest_python/dist-packages for_guest
  say "installing the terminal's libraries in the guest"
  rm -rf "$packages"
  mkdir -p "$packages"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target "$packages" \
    -r <(locked_requirements "${drivers_need[@]}") 2> "$work/log/pip.txt" ||
    { cat "$work/log/pip.txt" >&2; fail "pip failed"; }
  for_guest=(--quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$packages"
    --python-version "$guest_python" --implementation cp --abi "cp${guest_python/./}" --abi abi3 --abi none
    --platform manylinux_2_34_x86_64 --platform manylinux2014_x86_64 --platform any)
  "$python" -m pip install "${for_guest[@]}" "$lgpio" 2> "$work/log/pip.txt" ||
    { cat "$work/log/pip.txt" >&2; fail "pip failed"; }
  "$python" -m pip install "${for_guest[@]}" --require-hashes -r <(locked_requirements "${terminal_needs[@]}") \
    2> "$work/log/pip.txt" || { cat "$work/log/pip.txt" >&2; fail "pip failed"; }
}

# A whole Debian with systemd, to install boxman on: the packages lie on a disk of their own, a shell waits on a serial
# port.
stage_booted() {
  local root=$work/booted-root
  outdated "$work/booted.img" "$here/rig.sh" "$here/guest/shell.service" || return 0
  fetch_system "$root" bookworm "$booted_has"
  prepare_to_boot "$root" cdc_acm
  make_system_disk "$root" "$work/booted.img" 700M
}

# A whole Debian of the suite $2 with the packages $3 in the folder $1, unless it is there.
fetch_system() {
  [ ! -e "$1-is-whole" ] || return 0
  say "fetching a whole Debian, $2"
  rm -rf "$1"
  debootstrap --variant=minbase --include="$3" "$2" "$1" > "$work/log/debootstrap.txt" ||
    { tail -5 "$work/log/debootstrap.txt" >&2; fail "debootstrap failed"; }
  rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/{doc,man,locale,info}/*
  touch "$1-is-whole"
}

# A disk image $2 of the size $3, to be written to, with the system in the folder $1.
make_system_disk() {
  say "writing its disk"
  rm -f "$2"
  mke2fs -q -t ext4 -b 4096 -m 0 -d "$1" "$2.new" "$3" > /dev/null
  mv "$2.new" "$2"
}

# What the system in the folder $1 needs to run in the machine: a shell for the host, patience, and modules of the
# kernel, those that follow among them.
prepare_to_boot() {
  local root=$1 version module
  shift
  version=$(kernel_version)
  mkdir -p "$root/boxman"
  echo '/dev/vda / ext4 defaults 0 0' > "$root/etc/fstab"
  # An emulated machine on a busy host takes minutes where a table's computer takes seconds.
  mkdir -p "$root/etc/systemd/system.conf.d"
  printf '[Manager]\nDefaultTimeoutStartSec=1h\nDefaultDeviceTimeoutSec=1h\n' > "$root/etc/systemd/system.conf.d/patience.conf"
  echo boxman-test > "$root/etc/hostname"
  install -m 644 "$here/guest/shell.service" "$root/etc/systemd/system/"
  ln -sf ../shell.service "$root/etc/systemd/system/multi-user.target.wants/"
  rm -rf "$root/lib/modules"
  for module in overlay autofs4 binfmt_misc ext4 "$@"; do
    /sbin/modprobe -d "$work/kernel" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
    install -D -m 644 "$module" "$root/lib/modules/$version/${module#*/lib/modules/"$version"/}"
  done
  cp "$work/kernel/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$root/lib/modules/$version/"
  /sbin/depmod -b "$root" "$version"
}

# A Debian 13 with cloud-init, as Raspberry Pi OS is made of it and as far as that concerns a card: the boot partition is
# where cloud-init looks, a service asks at the screen for a first user, and the network is not cloud-init's affair.
stage_first_boot() {
  local root=$work/first-boot-root
  if outdated "$work/first-boot.img" "$here/rig.sh" "$here/guest/shell.service"; then
    fetch_system "$root" trixie "$first_boot_has"
    prepare_to_boot "$root" vfat nls_cp437 nls_ascii nls_utf8
    mkdir -p "$root"/boot/firmware "$root"/etc/systemd/{network,system/{cloud-init-main,cloud-init-local,boxman}.service.d}
    echo '/dev/vdc /boot/firmware vfat defaults 0 0' >> "$root/etc/fstab"
    printf '[Unit]\nRequiresMountsFor=/boot/firmware\n' |
      tee "$root"/etc/systemd/system/cloud-init-{main,local}.service.d/seed.conf > /dev/null
    printf '%s\n' 'datasource_list: [NoCloud, None]' 'datasource: {NoCloud: {seedfrom: "file:///boot/firmware"}}' \
      'network: {config: disabled}' 'ssh_deletekeys: false' 'ssh_genkeytypes: []' \
      > "$root/etc/cloud/cloud.cfg.d/99_boot_partition.cfg"
    # Without a gateway it sees what the host has on loopback, and nothing else.
    printf '[Match]\nName=eth0\n[Network]\nAddress=10.0.2.15/24\n' > "$root/etc/systemd/network/cable.network"
    printf '[Unit]\nAfter=systemd-user-sessions.service\n[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n' \
      > "$root/usr/lib/systemd/system/userconfig.service"
    printf '[Install]\nWantedBy=multi-user.target\n' >> "$root/usr/lib/systemd/system/userconfig.service"
    printf '[Service]\nTimeoutStartSec=1h\nWatchdogSec=5min\n' > "$root/etc/systemd/system/boxman.service.d/patience.conf"
    systemctl --quiet --root="$root" enable systemd-networkd.service userconfig.service
    make_system_disk "$root" "$work/first-boot.img" 1200M
  fi
  say "a card that makes a unit of a Debian 13 with cloud-init"
  (cd "$repository" && "$python" -m tests.vm.first_boot "$work")
}

# The lock file's entries for the packages named, with their hashes.
locked_requirements() {
  awk -v names="$*" '
    BEGIN { split(names, list, " "); for (n in list) wanted[list[n]] = 1 }
    /^[A-Za-z]/ { split($1, name, "=="); take = name[1] in wanted }
    take && !/^ *#/ { print }' "$repository/requirements.lock"
}

# The first root: the modules that the kernel needs to see its disks and the chip, in the order of their dependencies.
stage_initramfs() {
  local version first=$work/first-root module path
  outdated "$work/initramfs.gz" "$here/guest/initramfs-init" "$work/module/gpio-sim.ko" "$here/rig.sh" || return 0
  version=$(kernel_version)
  install -D "$work/module/gpio-sim.ko" "$work/kernel/lib/modules/$version/extra/gpio-sim.ko"
  /sbin/depmod -b "$work/kernel" "$version"
  rm -rf "$first"
  mkdir -p "$first"/{bin,modules,proc,sys,dev,root}
  cp /bin/busybox "$first/bin/"
  install "$here/guest/initramfs-init" "$first/init"
  for module in virtio_pci virtio_blk virtio_net crc32c_generic ext4 loop configfs gpio-sim; do
    /sbin/modprobe -d "$work/kernel" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
    cp "$path" "$first/modules/"
    basename "$path" >> "$first/modules/order"
  done
  (cd "$first" && find . | cpio -o -H newc --quiet) | gzip -1 > "$work/initramfs.new"
  mv "$work/initramfs.new" "$work/initramfs.gz"
}

# A small second disk with the drivers as they are now, and the checks: the only thing that is made anew for each run.
stage_program() {
  local program=$work/program
  rm -rf "$program"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --target "$program" \
    "$repository" 2> "$work/log/pip.txt" || { cat "$work/log/pip.txt" >&2; fail "boxman cannot be installed"; }
  mkdir -p "$program/tests"
  cp "$repository"/tests/{__init__,free_ports,terminal_load,terminal_rig}.py "$program/tests/"
  mkdir "$program/tests/vm"
  cp "$here"/*.py "$program/tests/vm/"
  cp -r "$here/guest" "$program/tests/vm/"
  make_disk "$program" "$work/program.img" 16M
}

# Another small disk, as a technician's USB stick: boxman as a Debian package, and signed releases that follow it.
stage_releases() {
  local sources=("$repository"/{engine_lite,drivers,device,provisioning} "$repository/requirements.lock" "$here/releases.py")
  [ ! -e "$work/releases.img" ] ||
    [ -n "$(find "${sources[@]}" -type f ! -name '*.pyc' -newer "$work/releases.img" -print -quit)" ] || return 0
  say "making packages and releases"
  rm -rf "$work/releases"
  mkdir "$work/releases"
  (cd "$repository" && "$python" -m tests.vm.releases "$work/releases")
  make_disk "$work/releases" "$work/releases.img" 96M
}

# Boots the guest for the task $1; what follows are more of QEMU's arguments. Prints and counts its checks.
boot_for() {
  local task=$1 line planned=0 passed=0 failed=0 console=$work/log/$1.txt
  shift
  : > "$console"
  while IFS= read -r line; do
    line=${line%$'\r'}
    printf '%s\n' "$line" >> "$console"
    case $line in
      "PLAN "*) planned=${line#PLAN } ;;
      "PASS "*) passed=$((passed + 1)); printf '%s\n' "$line" ;;
      "FAIL "*) failed=$((failed + 1)); printf '%s\n' "$line" ;;
      "     "*) printf '%s\n' "$line" ;;
    esac
  done < <(
    exec timeout "$boot_seconds_max" qemu-system-x86_64 -M pc -accel tcg -cpu max -smp 1 "$@" \
      -nodefaults -no-user-config -display none -no-reboot -serial stdio -kernel "$work/vmlinux" \
      -initrd "$work/initramfs.gz" -append "console=ttyS0 quiet loglevel=1 panic=-1 boxman.task=$task" \
      -drive "file=$work/root.img,if=none,id=root,format=raw,readonly=on" -device virtio-blk-pci,drive=root \
      -drive "file=$work/program.img,if=none,id=program,format=raw,readonly=on" -device virtio-blk-pci,drive=program \
      < /dev/null 2>&1
  )
  # A guest that dies half way must not look like one that passed.
  if [ "$planned" = 0 ] || [ $((passed + failed)) != "$planned" ]; then
    printf 'FAIL  the guest ended after %d of %d checks; the end of %s:\n' $((passed + failed)) "$planned" "$console"
    tail -15 "$console"
    failed=$((failed + 1))
  fi
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}

stage_drivers() {
  say "the drivers on a chip of the kernel, in an emulated computer (TCG)"
  # -icount: the guest's clock counts instructions, 4 ns each, and jumps over idle time. So a host that has other work
  # delays the whole run and no part of it: a press of 30 ms is one for the drivers, too. One processor: with two,
  # gpio-sim merges edges closer than 5 ms.
  boot_for drivers -icount shift=2,sleep=off -m 384
}

stage_full_disk() {
  say "a terminal on file systems that are full"
  boot_for full_disk -m 768
}

stage_installation() {
  say "boxman installed on a whole Debian"
  (cd "$repository" && "$python" -m tests.vm.installation "$work")
}

stage_figures() {
  say "what an installed terminal takes"
  (cd "$repository" && "$python" -m tests.vm.figures "$work")
}

stage_screen() {
  local root=$work/screen-root
  if outdated "$work/screen.img" "$here/rig.sh" "$here/guest/shell.service"; then
    fetch_system "$root" bookworm "$screen_has"
    prepare_to_boot "$root" cdc_acm virtio_gpu virtio_input evdev
    make_system_disk "$root" "$work/screen.img" 2G
  fi
  say "the table's own screen"
  (cd "$repository" && "$python" -m tests.vm.screen "$work")
}

stage_cuts() {
  say "a terminal on disks whose power is cut, $cuts times"
  (cd "$repository" && "$python" -m tests.vm.power_cuts "$work" "$cuts")
}

stages=(packages kernel module system booted initramfs program releases drivers full_disk installation figures screen first_boot cuts)
[ $# -eq 0 ] || stages=("$@")
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" > /dev/null || fail "there is no stage $stage"
  "stage_$stage"
done
