import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { GatewayClient } from '#shared/client/client.ts';

/** The port of the stored home: databases of a browser belong to an origin. */
export const STORED_PORT = 47_331;

const HOME_FILE = join(import.meta.dirname, 'home.br');
/** Parts of a browser profile that hold data; caches are left out. */
const PROFILE_DATA = /\/(?:IndexedDB|Local Storage|databases)\//;

/** All records, as a build that stored them read them: of the managed browser, of the journal, and by the protocol. */
interface StoredRecords {
  build: string;
  browser: Record<string, unknown>;
  journal: Record<string, unknown>;
  answers: Record<string, unknown>;
}

interface StoredHome {
  /** Contents by path, Base64. */
  files: Record<string, string>;
  records: StoredRecords;
}

/** Packs a home folder: settings, keys, journal, backups, and data of the browser profile. */
export function packHome(home: string, records: StoredRecords): void {
  const files = readdirSync(home, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .filter((path) => !path.startsWith('profiles/') || PROFILE_DATA.test(path))
    .filter((path) => !/(?:\.sock|\/LOCK|served-by\.\d+)$/.test(path));
  const packed: StoredHome = {
    files: Object.fromEntries(files.map((path) => [path, readFileSync(join(home, path)).toString('base64')])),
    records,
  };
  writeFileSync(HOME_FILE, brotliCompressSync(JSON.stringify(packed), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }));
}

/** Writes the stored home into a folder. */
export function unpackHome(home: string): StoredRecords {
  const { files, records } = JSON.parse(brotliDecompressSync(readFileSync(HOME_FILE)).toString()) as StoredHome;
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  return records;
}

/** Reads all stored data by the protocol. */
export async function readAnswers(client: GatewayClient): Promise<Record<string, unknown>> {
  const { sessions } = await client.call('sessions.list', { limit: 1000, archived: true });
  const answers: Record<string, unknown> = { 'sessions.list': sessions };
  for (const { agentId, sessionId } of sessions)
    answers[`chat.history ${agentId}/${sessionId}`] = await client.call('chat.history', { agentId, sessionId, limit: 200 });
  const { pages } = await client.call('wiki.pages', {});
  for (const { path } of pages) answers[`wiki.page ${path}`] = await client.call('wiki.page', { path });
  const { files } = await client.call('workspace.list', {});
  for (const { path } of files) {
    answers[`workspace.read ${path}`] = await client.call('workspace.read', { path });
    answers[`workspace.versions ${path}`] = await client.call('workspace.versions', { path });
  }
  const { drawings } = await client.call('drawings.list', {});
  for (const { id } of drawings) answers[`drawings.open ${id}`] = await client.call('drawings.open', { drawingId: id });
  const { jobs } = await client.call('cron.list', {});
  for (const { id } of jobs) answers[`cron.history ${id}`] = await client.call('cron.history', { jobId: id });
  answers['cron.list'] = jobs;
  answers['agents.list'] = await client.call('agents.list', {});
  answers['agents.bindings'] = await client.call('agents.bindings', {});
  answers['memory.list'] = await client.call('memory.list', {});
  answers['memory.preferences'] = await client.call('memory.preferences', {});
  answers['memory.recalled'] = await client.call('memory.recalled', {});
  answers['wiki.claims'] = await client.call('wiki.claims', {});
  answers['plan.list'] = await client.call('plan.list', {});
  answers['approvals.list'] = await client.call('approvals.list', { status: 'all' });
  answers['exec.list'] = await client.call('exec.list', {});
  answers['exec.policies'] = await client.call('exec.policies', {});
  answers['review.list'] = await client.call('review.list', {});
  answers['keys.list'] = await client.call('keys.list', {});
  answers['device.list'] = await client.call('device.list', {});
  answers['config.get'] = await client.call('config.get', {});
  return answers;
}
