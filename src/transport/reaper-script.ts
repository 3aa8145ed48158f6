/** The scripts of the reaper helper: a shell loop that needs about 1 MB of memory, and a Node script for Windows. */

/**
 * Reads the mark, then lines of `+ group`, `- group` or `q`. The end of its input means that the host died: it lists
 * the descendants of the servers while those still run (`family`, each pid with its start time, because pids are
 * reused), sends SIGTERM to all, waits two seconds at most, then sends SIGKILL until no marked process was found three
 * times in a row. Uses only features of dash.
 */
export const POSIX_REAPER = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
read -r mark || exit 0
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
    q) exit 0 ;;
  esac
done
started() {
  start=
  read -r stat < "/proc/$1/stat" && set -- \${stat##*) } && start=\${20}
}
kin() {
  for list in /proc/$1/task/*/children; do
    children=
    read -r children < "$list"
    for child in $children; do
      started "$child"
      family="$family $child:$start"
      kin "$child"
    done
  done
} 2>/dev/null
marked() {
  if [ -r /proc/self/environ ]; then
    grep -l -s -F -e "$mark" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
  else
    ps -A -E -ww -o pid=,command= | while read -r pid rest; do
      case $rest in *"$mark"*) echo "$pid" ;; esac
    done
  fi
}
signal() {
  left=' '
  for group in $groups; do kill -s "$1" -- "-$group" && left="$left$group "; done
  groups=$left
  left=
  for one in $family; do
    started "\${one%:*}"
    [ "$start" = "\${one#*:}" ] && kill -s "$1" "\${one%:*}" && left="$left $one"
  done
  family=$left
  pids=$(marked)
  for pid in $pids; do kill -s "$1" -- "-$pid"; kill -s "$1" "$pid"; done
} 2>/dev/null
pause() { sleep 0.1 2>/dev/null || sleep 1; }
family=
for group in $groups; do kin "$group"; done
signal TERM
signal CONT
tries=0
while [ $tries -lt 20 ] && [ "$groups$family$pids" != ' ' ]; do
  pause
  signal 0
  tries=$((tries + 1))
done
tries=0
quiet=0
while [ $tries -lt 100 ] && [ $quiet -lt 3 ]; do
  signal KILL
  if [ -z "$pids" ]; then quiet=$((quiet + 1)); else quiet=0; fi
  tries=$((tries + 1))
  pause
done
`;

/** The Windows version: ends process trees by force. */
export const WINDOWS_REAPER = `
const { spawnSync } = require('node:child_process');
const pids = new Set();
let text = '';
let quit = false;
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  text += chunk;
  const lines = text.split('\\n');
  text = lines.pop();
  for (const line of lines) {
    const [what, pid] = line.split(' ');
    if (what === '+') pids.add(pid);
    if (what === '-') pids.delete(pid);
    if (what === 'q') quit = true;
  }
});
const finish = () => {
  if (!quit) for (const pid of pids) spawnSync('taskkill', ['/PID', pid, '/T', '/F'], { stdio: 'ignore' });
  process.exit(0);
};
process.stdin.on('end', finish);
process.stdin.on('error', finish);
`;
