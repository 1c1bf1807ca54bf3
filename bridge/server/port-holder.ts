import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { fetchHealth } from './fetch-health.ts';

const HEALTH_MS = 1000;
const LISTENING = '0A';

/** Describes the program that uses a port, as far as it can be found out, to follow "is taken by". Never rejects. */
export async function describePortHolder(port: number, host = '127.0.0.1'): Promise<string> {
  const perch = await fetchHealth({ host, port, hostHeader: `127.0.0.1:${port}`, signal: AbortSignal.timeout(HEALTH_MS) });
  const found = await findProcess(port).catch(() => undefined);
  const processLabel = found ? ` (process ${found.pid})` : '';
  if (perch) return `a running Perch ${perch.version}${processLabel}`;
  return found ? `"${found.name}"${processLabel}` : 'another program';
}

/** Finds the process that has the listening socket open (Linux). Returns only the program's name, since arguments may contain secrets. */
async function findProcess(port: number): Promise<{ pid: number; name: string } | undefined> {
  if (process.platform !== 'linux') return undefined;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')));
  const inodes = new Set(tables.flatMap((table) => findListeningInodes(table, port)));
  if (inodes.size === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch((): string[] => []);
    const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    if (!links.some((target) => inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ''))) continue;
    const [program = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    return { pid: Number(pid), name: basename(program) || 'a process without a name' };
  }
  return undefined;
}

function findListeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === LISTENING)
    .map((fields) => fields[9] ?? '')
    .filter((inode) => inode !== '' && inode !== '0');
}
