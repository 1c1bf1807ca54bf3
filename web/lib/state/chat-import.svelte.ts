import { legible } from '#shared/legible.ts';
import type { GivenFile } from '#shared/import/import-files.ts';
import { type ImportReading, readImport } from '#shared/import/read-import.ts';
import { type Refusal, Unimportable } from '#shared/import/refusal.ts';
import { emptyResult, type ImportResult, writeImport } from '#shared/import/write-import.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { list, number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import { refusalText } from '#lib/chat/refusal-text.ts';
import { sessions } from './sessions.svelte.ts';

/** Characters of a name in a problem. */
const NAME_CHARS = 120;
/** Names of files in a result. */
const LEFT_OUT_SHOWN = 8;

/** Imports chats, memories and skills from files: first all files are read, then item by item is written, so that it can be watched and stopped. */
export class ChatImport {
  /** Under way; `done` of `all`. */
  working = $state(false);
  all = $state(0);
  done = $state(0);
  result = $state.raw<ImportResult>(emptyResult());
  /** Items that could not be imported, with the reasons. */
  problems = $state<string[]>([]);
  ended = $state(false);
  /** Chats that were added, and those that an earlier import added. */
  readonly added = $derived(this.result.chats.added);
  readonly known = $derived(this.result.chats.known);
  /** Summary of the import for the user. */
  readonly outcome = $derived.by(() => {
    const { added, known } = this;
    if (added > 0) return known > 0 ? m.sessions_import_added_and_known({ added, known }) : m.sessions_import_added({ count: added });
    return known > 0 ? m.sessions_import_known({ count: known }) : m.sessions_import_nothing();
  });
  /** Everything else that came, and what was left out, each as a sentence. */
  readonly details = $derived.by(() => {
    const { messages, pictures, memories, skills, leftOut } = this.result;
    return [
      ...(messages > 0 ? [m.sessions_import_messages({ count: number(messages) })] : []),
      ...(pictures.added > 0 ? [m.sessions_import_pictures({ count: number(pictures.added) })] : []),
      ...(pictures.missing > 0 ? [m.sessions_import_pictures_missing({ count: number(pictures.missing) })] : []),
      ...(memories.added + memories.known > 0
        ? [m.sessions_import_memories({ added: number(memories.added), known: number(memories.known) })]
        : []),
      ...(skills.added + skills.known > 0 ? [m.sessions_import_skills({ added: number(skills.added), known: number(skills.known) })] : []),
      ...(leftOut.length > 0 ? [m.sessions_import_left_out({ names: toNames(leftOut) })] : []),
    ];
  });
  #stop = new AbortController();

  /** `read` reads the files, if that was not done before. */
  async run(files: readonly GivenFile[], read: (files: readonly GivenFile[]) => Promise<ImportReading> = readImport): Promise<void> {
    if (this.working || files.length === 0) return;
    Object.assign(this, { working: true, all: 0, done: 0, result: emptyResult(), problems: [], ended: false });
    const { signal } = (this.#stop = new AbortController());
    try {
      const reading = await read(files);
      for (const { file, why } of reading.refused) this.#refuse(file, why);
      for (const { file, count } of reading.strange) this.problems.push(m.sessions_import_strange({ file: legible(file), count }));
      await this.#write(reading, signal);
    } catch (error) {
      const name = files.map(({ path }) => path)[0] ?? '';
      if (error instanceof Unimportable) this.#refuse(name, error.refusal);
      else this.problems.push(problemOf(error, m.sessions_doing_import_file({ file: legible(name) })).message);
    }
    this.working = false;
    this.ended = true;
  }

  /** Stops after the item that is being written; what was written stays. */
  stop(): void {
    this.#stop.abort();
  }

  async #write(reading: ImportReading, signal: AbortSignal): Promise<void> {
    const { chats, memories, days, skills } = reading;
    this.all = chats.length + memories.length + days.length + skills.length;
    const result = await writeImport(reading, (method, params) => gateway.call(method, params), {
      agentId: 'main',
      signal,
      onProgress: (soFar, done) => {
        this.done = done;
        this.result = { ...soFar };
      },
      onSession: (session) => sessions.took(session),
    });
    this.result = { ...result };
    for (const { name, error } of result.problems) {
      const title = legible(name.slice(0, NAME_CHARS));
      const line = readLine(error);
      this.problems.push(
        line === undefined
          ? problemOf(error, m.sessions_doing_import_chat({ title })).message
          : m.sessions_import_not({ file: title, why: m.sessions_import_wrong_line({ line: number(line) }) }),
      );
    }
  }

  #refuse(file: string, why: Refusal): void {
    this.problems.push(m.sessions_import_not({ file: legible(file), why: refusalText(why) }));
  }
}

/** The first names of files, and how many more there are. */
function toNames(names: readonly string[]): string {
  const unique = [...new Set(names)].map(legible);
  const more = unique.length - LEFT_OUT_SHOWN;
  return list([...unique.slice(0, LEFT_OUT_SHOWN), ...(more > 0 ? [`+${number(more)}`] : [])], { style: 'narrow' });
}

/** The line of a file that the gateway could not read. */
function readLine(error: unknown): number | undefined {
  const line = error instanceof RpcError ? error.extra.details?.['line'] : undefined;
  return typeof line === 'number' ? line : undefined;
}
