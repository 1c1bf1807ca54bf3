import type { ArchiveEntry, Project } from '#shared/rpc/methods/project-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { m } from '#app/i18n/messages.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';

/** Characters of the files that are sent in one call, far below the limit of a frame. */
const MAX_CALL_CHARS = 6 * 1024 * 1024;
/** Bytes of the largest file that fits in a call. */
const MAX_ENTRY_BYTES = 24 * 1024 * 1024;
const MAX_CALL_ENTRIES = 900;
const MANIFEST = 'project.json';

type ImportResult = MethodResult<'projects.import'>;

const loadZip = async () => {
  const zip = await import('@zip.js/zip.js/index-native.js');
  zip.configure({ useWebWorkers: false });
  return zip;
};

/** Exports a project as a zip. Rejects if the gateway refuses, or a chat changes during the export. */
export async function exportProject({ id }: Project): Promise<File> {
  const { BlobReader, BlobWriter, ZipWriter } = await loadZip();
  const zip = new ZipWriter(new BlobWriter('application/zip'));
  let name = '';
  let path = '';
  let parts: BlobPart[] = [];
  const add = async (): Promise<void> => {
    if (path !== '') await zip.add(path, new BlobReader(new Blob(parts)));
    parts = [];
  };
  for (let cursor: string | null | undefined; cursor !== null;) {
    const part: MethodResult<'projects.export'> = await gateway.call('projects.export', {
      id,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const entry of part.entries) {
      if (entry.path !== path) await add();
      ({ path } = entry);
      parts.push(entry.encoding === 'utf8' ? entry.content : Uint8Array.from(atob(entry.content), (char) => char.charCodeAt(0)));
    }
    ({ filename: name, cursor } = part);
  }
  await add();
  return new File([await zip.close()], name, { type: 'application/zip' });
}

/** Imports the zip of an exported project. Rejects if it is not one, or a chat in it is too long to be sent. */
export async function importProject(file: File): Promise<ImportResult> {
  const { BlobReader, TextWriter, Data64URIWriter, ZipReader } = await loadZip();
  const zip = new ZipReader(new BlobReader(file));
  try {
    const entries: ArchiveEntry[] = [];
    for (const entry of await zip.getEntries()) {
      // Markdown versions of chats are for people.
      if (entry.directory || /^chats\/.*\.md$/.test(entry.filename)) continue;
      if (entry.uncompressedSize > MAX_ENTRY_BYTES) throw new Error(m.projects_entry_too_large({ name: entry.filename }));
      const isFile = entry.filename.startsWith('files/');
      const content = await entry.getData(isFile ? new Data64URIWriter() : new TextWriter());
      entries.push(
        isFile
          ? { path: entry.filename, encoding: 'base64', content: content.replace(/^[^,]*,/, '') }
          : { path: entry.filename, encoding: 'utf8', content },
      );
    }
    return await sendEntries(entries);
  } finally {
    await zip.close();
  }
}

/** Sends the files, in several calls if they are too long for one; each has the settings. */
async function sendEntries(entries: readonly ArchiveEntry[]): Promise<ImportResult> {
  const settings = entries.filter(({ path }) => path === MANIFEST || path === 'instructions.md');
  const added = { projects: 0, chats: 0, files: 0, memories: 0 };
  const batches = splitIntoBatches(entries.filter((entry) => !settings.includes(entry)));
  const send = async (batch: readonly ArchiveEntry[]): Promise<ImportResult['project']> => {
    const result = await gateway.call('projects.import', { entries: [...settings, ...batch] });
    for (const kind of ['projects', 'chats', 'files', 'memories'] as const) added[kind] += result.added[kind];
    return result.project;
  };
  const [first = [], ...others] = batches;
  let project = await send(first);
  for (const batch of others) project = await send(batch);
  return { project, added };
}

function splitIntoBatches(entries: readonly ArchiveEntry[]): ArchiveEntry[][] {
  const batches: ArchiveEntry[][] = [];
  let chars = Infinity;
  for (const entry of entries) {
    const last = batches.at(-1);
    if (last && last.length < MAX_CALL_ENTRIES && chars + entry.content.length <= MAX_CALL_CHARS) last.push(entry);
    else batches.push([entry]);
    chars = batches.at(-1) === last ? chars + entry.content.length : entry.content.length;
  }
  return batches;
}
