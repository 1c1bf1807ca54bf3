import { openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import type { SelectedFile } from '#shared/import/import-files.ts';
import { type NotesReading, readNotes } from '#shared/import/notes/read-notes.ts';
import { listKnownPages, PictureWriter, planPage, writePage } from '#shared/import/notes/write-notes.ts';
import { type GatewayCall, createRetryingCall } from '#shared/import/retrying-call.ts';
import { parseMemoryList } from '#shared/import/memory-list.ts';
import { type ImportReading, readImport, toMemoryReading } from '#shared/import/read-import.ts';
import { IMPORT_ERRORS, ImportError } from '#shared/import/import-error.ts';
import { writeImport } from '#shared/import/write-import.ts';
import { connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printLine, printJson, escapeControls } from './terminal-output.ts';

interface ImportOptions extends ConnectionOptions {
  timeout: number;
  agent: string;
  as: 'chats' | 'memories' | 'wiki';
  json?: boolean;
}

const MAX_FILES = 100_000;
/** Maximum number of file names in a result. */
const MAX_LISTED_FILES = 20;
const NOTE_ERRORS = {
  pageTooLarge: 'the file is larger than 7 MiB',
  pictureTooLarge: 'the picture is larger than 8 MiB',
  twice: 'another file has the same path',
};

interface ImportReport {
  lines: string[];
  counts: Record<string, number>;
  problems: string[];
}

/** `perch import FILE…`: imports exports of other products. All files are read before the first is written. */
export async function importFiles(
  paths: readonly string[],
  { agent, as, json = false, timeout, ...options }: ImportOptions,
): Promise<void> {
  const files = (await Promise.all(paths.map(listFiles))).flat();
  const write = as === 'wiki' ? await prepareNotes(files, agent) : await prepareChats(files, as, agent);
  const client = await connectGateway({ ...options, name: 'perch import', timeoutMs: timeout });
  try {
    const report = await write((method, params) => client.call(method, params));
    if (json) printJson({ ...report.counts, problems: report.problems });
    else for (const line of [...report.lines, ...report.problems]) printLine(escapeControls(line));
    if (report.problems.length > 0) process.exitCode = 1;
  } finally {
    client.close();
  }
}

/** A file, or all files of a folder with their paths within it. */
async function listFiles(path: string): Promise<SelectedFile[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ path: basename(path), blob: await openAsBlob(path) }];
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    if (names.length > MAX_FILES) throw new CommandError(`${path} has more than ${MAX_FILES} files`);
    return await Promise.all(
      names.map(async (name) => ({ path: relative(path, name).split(sep).join('/'), blob: await openAsBlob(name) })),
    );
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(toErrorLine(error), 1, { cause: error });
  }
}

async function rethrowWithName<T>(work: Promise<T>, name: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ImportError) throw new CommandError(`${name} wasn’t imported: ${error.message}`, 1, { cause: error });
    throw error;
  }
}

async function prepareChats(
  files: readonly SelectedFile[],
  as: 'chats' | 'memories',
  agentId: string,
): Promise<(call: GatewayCall) => Promise<ImportReport>> {
  const name = files[0]?.path ?? 'The folder';
  const [only] = files;
  // A list of memories is text and not a chat.
  const isList = as === 'memories' && files.length === 1 && only !== undefined && /\.(txt|md|json)$/i.test(only.path);
  const reading: ImportReading = isList
    ? toMemoryReading(parseMemoryList(await only.blob.text()), 'memory list')
    : await rethrowWithName(readImport(files), name);
  const selected = as === 'memories' ? { ...reading, chats: [], skills: [] } : reading;
  return async (call) => {
    const result = await writeImport(selected, call, { agentId });
    const { chats, messages, pictures, memories, skills, leftOut } = result;
    const formatCounts = (label: string, { added, known }: { added: number; known: number }): string[] =>
      added + known > 0 ? [`${label}: ${added} new, ${known} already there`] : [];
    const isEmpty = chats.added + chats.known + memories.added + memories.known + skills.added + skills.known === 0;
    const lines = [
      ...(isEmpty ? ['Nothing imported'] : []),
      ...formatCounts('Chats', chats),
      ...(messages > 0 ? [`Messages: ${messages}`] : []),
      ...(pictures.added > 0 ? [`Pictures: ${pictures.added}`] : []),
      ...(pictures.missing > 0 ? [`Pictures missing from the export: ${pictures.missing}`] : []),
      ...formatCounts('Memories', memories),
      ...formatCounts('Skills', skills),
      ...formatSkipped(leftOut),
      ...(memories.added + skills.added > 0 ? ['New memories and skills wait for your review on the Approvals page.'] : []),
    ];
    const problems = [
      ...reading.rejected.map(({ file, why }) => `${file} wasn’t imported: ${IMPORT_ERRORS[why]}`),
      ...reading.unrecognized.map(({ file, count }) => `${file}: ${count} skipped because they aren’t chats with messages`),
      ...result.problems.map((problem) => `${problem.name.slice(0, 120)} wasn’t imported: ${toErrorLine(problem.error)}`),
    ];
    const counts = {
      ...{ chats: chats.added, knownChats: chats.known, messages, pictures: pictures.added, missingPictures: pictures.missing },
      ...{ memories: memories.added, knownMemories: memories.known, skills: skills.added, knownSkills: skills.known },
    };
    return { lines, counts, problems };
  };
}

async function prepareNotes(files: readonly SelectedFile[], agentId: string): Promise<(call: GatewayCall) => Promise<ImportReport>> {
  const notes: NotesReading = await rethrowWithName(readNotes(files), files[0]?.path ?? 'The folder');
  return async (originalCall) => {
    const call = createRetryingCall(originalCall);
    const problems = notes.rejected.map(
      ({ path, why }) =>
        `${path} wasn’t imported: ${why in NOTE_ERRORS ? NOTE_ERRORS[why as keyof typeof NOTE_ERRORS] : IMPORT_ERRORS[why as keyof typeof IMPORT_ERRORS]}`,
    );
    const knownPages = await listKnownPages(call, agentId);
    const pictures = new PictureWriter(call, agentId);
    const counts = { pages: 0, knownPages: 0, differentPages: 0, pictures: 0, claims: 0 };
    const attempt = (path: string, work: () => Promise<void>): Promise<void> =>
      work().catch((error: unknown) => void problems.push(`${path} wasn’t imported: ${toErrorLine(error)}`));
    for (const picture of notes.pictures)
      await attempt(picture.path, async () => {
        if (await pictures.add(picture)) counts.pictures++;
      });
    for (const note of notes.pages)
      await attempt(note.path, async () => {
        const page = await planPage(call, agentId, note, knownPages);
        if (page.state === 'same') counts.knownPages++;
        else if (page.state === 'other') counts.differentPages++;
        else {
          await writePage(call, agentId, page);
          counts.pages++;
        }
      });
    for (const { path, text } of notes.claims)
      await attempt(path, async () => {
        counts.claims += (await call('wiki.import', { agentId, content: text })).added.length;
      });
    const lines = [
      `Format: ${notes.product}`,
      `Pages: ${counts.pages} new, ${counts.knownPages} unchanged`,
      ...(counts.differentPages > 0 ? [`Pages that are different in the wiki and were kept: ${counts.differentPages}`] : []),
      ...(counts.pictures > 0 ? [`Pictures: ${counts.pictures}`] : []),
      ...(counts.claims > 0 ? [`Claims: ${counts.claims}`] : []),
      ...formatSkipped(notes.leftOut),
    ];
    return { lines, counts, problems };
  };
}

function formatSkipped(names: readonly string[]): string[] {
  const unique = [...new Set(names)];
  if (unique.length === 0) return [];
  const hiddenCount = unique.length - MAX_LISTED_FILES;
  return [`Left out: ${unique.slice(0, MAX_LISTED_FILES).join(', ')}${hiddenCount > 0 ? `, and ${hiddenCount} more` : ''}`];
}
