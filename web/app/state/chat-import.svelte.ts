import { toPrintable } from '#shared/printable.ts';
import type { SelectedFile } from '#shared/import/import-files.ts';
import { type ImportReading, readImport } from '#shared/import/read-import.ts';
import { type ImportErrorCode, ImportError } from '#shared/import/import-error.ts';
import { createEmptyResult, type ImportResult, writeImport } from '#shared/import/write-import.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { formatList, formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';
import { getRefusalText } from '../files/refusal-text.ts';
import { sessions } from './session-list.svelte.ts';

/** Maximum characters of a name in a problem. */
const MAX_NAME_CHARS = 120;
/** Maximum number of listed names of skipped files. */
const MAX_SKIPPED_NAMES = 8;

/** Imports chats, memories and skills from files: reads all files first, then writes item by item, with progress, until it is stopped. */
export class ChatImport {
  /** Whether an import is running; `doneCount` of `totalCount` items are written. */
  working = $state(false);
  totalCount = $state(0);
  doneCount = $state(0);
  result = $state.raw<ImportResult>(createEmptyResult());
  /** Items that could not be imported, with the reasons. */
  problems = $state<string[]>([]);
  hasEnded = $state(false);
  /** Chats that were added, and chats that an earlier import had added. */
  readonly addedCount = $derived(this.result.chats.added);
  readonly knownCount = $derived(this.result.chats.known);
  /** Summary of the import for the user. */
  readonly outcome = $derived.by(() => {
    const { addedCount, knownCount } = this;
    if (addedCount > 0)
      return knownCount > 0
        ? m.sessions_import_added_and_known({ added: addedCount, known: knownCount })
        : m.sessions_import_added({ count: addedCount });
    return knownCount > 0 ? m.sessions_import_known({ count: knownCount }) : m.sessions_import_nothing();
  });
  /** Other imported items, and skipped ones, each as a sentence. */
  readonly details = $derived.by(() => {
    const { messages, pictures, memories, skills, leftOut } = this.result;
    return [
      ...(messages > 0 ? [m.sessions_import_messages({ count: formatNumber(messages) })] : []),
      ...(pictures.added > 0 ? [m.sessions_import_pictures({ count: formatNumber(pictures.added) })] : []),
      ...(pictures.missing > 0 ? [m.sessions_import_pictures_missing({ count: formatNumber(pictures.missing) })] : []),
      ...(memories.added + memories.known > 0
        ? [m.sessions_import_memories({ added: formatNumber(memories.added), known: formatNumber(memories.known) })]
        : []),
      ...(skills.added + skills.known > 0
        ? [m.sessions_import_skills({ added: formatNumber(skills.added), known: formatNumber(skills.known) })]
        : []),
      ...(leftOut.length > 0 ? [m.sessions_import_left_out({ names: toNames(leftOut) })] : []),
    ];
  });
  #abort = new AbortController();

  /** Imports files. `read` may return files that were read before. */
  async run(files: readonly SelectedFile[], read: (files: readonly SelectedFile[]) => Promise<ImportReading> = readImport): Promise<void> {
    if (this.working || files.length === 0) return;
    Object.assign(this, {
      working: true,
      totalCount: 0,
      doneCount: 0,
      result: createEmptyResult(),
      problems: [],
      hasEnded: false,
    } satisfies Partial<ChatImport>);
    const { signal } = (this.#abort = new AbortController());
    try {
      const reading = await read(files);
      for (const { file, why: code } of reading.rejected) this.#addProblem(file, code);
      for (const { file, count } of reading.unrecognized) this.problems.push(m.sessions_import_strange({ file: toPrintable(file), count }));
      await this.#write(reading, signal);
    } catch (error) {
      const name = files.map(({ path }) => path)[0] ?? '';
      if (error instanceof ImportError) this.#addProblem(name, error.refusal);
      else this.problems.push(toProblem(error, m.sessions_doing_import_file({ file: toPrintable(name) })).message);
    }
    this.working = false;
    this.hasEnded = true;
  }

  /** Stops after the item that is being written; what was written stays. */
  stop(): void {
    this.#abort.abort();
  }

  async #write(reading: ImportReading, signal: AbortSignal): Promise<void> {
    const { chats, memories, days, skills } = reading;
    this.totalCount = chats.length + memories.length + days.length + skills.length;
    const result = await writeImport(reading, (method, params) => gateway.call(method, params), {
      agentId: 'main',
      signal,
      onProgress: (partialResult, doneCount) => {
        this.doneCount = doneCount;
        this.result = { ...partialResult };
      },
      onSession: (session) => sessions.markAsRead(session),
    });
    this.result = { ...result };
    for (const { name, error } of result.problems) {
      const title = toPrintable(name.slice(0, MAX_NAME_CHARS));
      const line = readErrorLine(error);
      this.problems.push(
        line === undefined
          ? toProblem(error, m.sessions_doing_import_chat({ title })).message
          : m.sessions_import_not({ file: title, why: m.sessions_import_wrong_line({ line: formatNumber(line) }) }),
      );
    }
  }

  #addProblem(file: string, code: ImportErrorCode): void {
    this.problems.push(m.sessions_import_not({ file: toPrintable(file), why: getRefusalText(code) }));
  }
}

/** The first names, and the number of further ones. */
function toNames(names: readonly string[]): string {
  const unique = [...new Set(names)].map(toPrintable);
  const moreCount = unique.length - MAX_SKIPPED_NAMES;
  return formatList([...unique.slice(0, MAX_SKIPPED_NAMES), ...(moreCount > 0 ? [`+${formatNumber(moreCount)}`] : [])], {
    style: 'narrow',
  });
}

/** The line of a file that the gateway could not read. */
function readErrorLine(error: unknown): number | undefined {
  const line = error instanceof RpcError ? error.extra.details?.['line'] : undefined;
  return typeof line === 'number' ? line : undefined;
}
