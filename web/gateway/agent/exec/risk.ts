import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';

const toWordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Programs that only read, whatever their arguments. */
const READ_ONLY_PROGRAMS = toWordSet(`
  ls cat head tail wc pwd echo printf whoami id uname uptime which stat du df free ps
  grep egrep fgrep basename dirname realpath readlink diff cmp cksum md5sum sha1sum sha256sum true false printenv
`);
/** Programs of `READ_ONLY_PROGRAMS` that print neither content nor names of files, which others may have chosen. */
const SILENT_PROGRAMS = toWordSet('pwd echo printf whoami id uname uptime which df free basename dirname true false');
/** Programs that delete, change the system, access the network, or install other programs. */
const DANGEROUS_PROGRAMS = toWordSet(`
  rm rmdir dd shred truncate mkfs wipefs fdisk parted mount umount chmod chown chattr
  sudo su doas pkexec passwd useradd userdel usermod visudo crontab at kill killall pkill shutdown reboot halt poweroff systemctl service
  ssh scp sftp rsync nc ncat netcat socat telnet ftp iptables nft
  apt apt-get aptitude dpkg yum dnf rpm pacman zypper apk brew port snap flatpak nix
  npm npx pnpm yarn bun corepack pip pipx uv uvx poetry conda gem bundle cargo rustup go composer cpan
  docker podman kubectl helm wget eval powershell pwsh cmd reg diskutil launchctl osascript
`);
/** Programs that run another program, named by their arguments. */
const WRAPPER_PROGRAMS = toWordSet('env xargs nice nohup timeout setsid stdbuf watch strace gdb script parallel make exec chroot unshare');
const SHELLS = toWordSet('sh bash zsh dash ash ksh fish csh tcsh busybox');
const INTERPRETERS = toWordSet('python pypy node deno perl ruby php lua rscript tclsh awk gawk mawk sed osascript groovy julia');
/** Folders of the system's own programs: only there does a name identify its program. */
const SYSTEM_PATH = /^(\/usr)?\/s?bin\//;

/**
 * Estimates the risk of a command, for display only: it decides nothing. `low`: a well-known program of the system that only reads. `high`:
 * deletes, changes the system, accesses the network, installs, or runs what its arguments say. Anything else is `medium`, without a
 * guarantee: any program may do anything.
 */
export function estimateRisk({ command, args, realPath }: Pick<ExecRequest, 'command' | 'args' | 'realPath'>): ExecRequest['riskLevel'] {
  const names = [toProgramName(command), toProgramName(realPath)];
  const includesAny = (set: ReadonlySet<string>): boolean => names.some((name) => set.has(name) || set.has(name.replace(/[-.\d]+$/, '')));
  if (
    includesAny(DANGEROUS_PROGRAMS) ||
    includesAny(WRAPPER_PROGRAMS) ||
    includesAny(SHELLS) ||
    names.some((name) => name.startsWith('mkfs.'))
  )
    return 'high';
  if (includesAny(INTERPRETERS) && args.some((arg) => /^(-[A-Za-z]*[ceEi]|-m|--(eval|execute|print|expression|in-place)\b.*|-p)/.test(arg)))
    return 'high';
  if (names.includes('curl') && args.some((arg) => /^(-[A-Za-z]*[oOTdFJ]|--(output|remote-name|upload-file|data|form))/.test(arg)))
    return 'high';
  if (names.includes('find') && args.some((arg) => /^-(delete|exec|execdir|ok|okdir|fprint|fls)/.test(arg))) return 'high';
  return SYSTEM_PATH.test(realPath) && READ_ONLY_PROGRAMS.has(names[0] ?? '') ? 'low' : 'medium';
}

/** Whether it is a program of the system whose output contains nothing from a file, a page or another program. */
export const isSilent = ({ command, realPath }: Pick<ExecRequest, 'command' | 'realPath'>): boolean =>
  SYSTEM_PATH.test(realPath) && SILENT_PROGRAMS.has(toProgramName(command)) && SILENT_PROGRAMS.has(toProgramName(realPath));

/** File name without the extension that Windows adds. */
const toProgramName = (path: string): string =>
  path
    .replace(/^.*[/\\]/, '')
    .replace(/\.exe$/i, '')
    .toLowerCase();
