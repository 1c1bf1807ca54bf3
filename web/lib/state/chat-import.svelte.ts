import { legible } from '#shared/legible.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { canBeSeen } from '#shared/seen.ts';
import { problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { type Importable, type Read, readExport, Unimportable } from '#lib/chat/import/read-export.ts';
import { cut, jsonLines, tagsOf } from '#lib/chat/import/imported-chat.ts';
import { number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import { sessions } from './sessions.svelte.ts';

/** Characters that a title may have (`sessions.rename`). */
const TITLE_CHARS = 200;

/** Brings in the chats of files: one after the other, so that it can be watched and ended between two. */
export class ChatImport {
  /** Under way; `done` of `all`. */
  working = $state(false);
  all = $state(0);
  done = $state(0);
  added = $state(0);
  /** There already, from an earlier import. */
  known = $state(0);
  /** Files and chats that could not be imported, with reasons. */
  problems = $state<string[]>([]);
  ended = $state(false);
  /** Summary of the import, for display. */
  readonly outcome = $derived.by(() => {
    const { added, known } = this;
    if (added > 0) return known > 0 ? m.sessions_import_added_and_known({ added, known }) : m.sessions_import_added({ count: added });
    return known > 0 ? m.sessions_import_known({ count: known }) : m.sessions_import_nothing();
  });
  #stopped = false;

  /** `read`: what reads a file, where that may have been done before. */
  async run(files: readonly File[], read: (file: File) => Promise<Read> = readExport): Promise<void> {
    if (this.working || files.length === 0) return;
    Object.assign(this, { working: true, all: 0, done: 0, added: 0, known: 0, problems: [], ended: false });
    this.#stopped = false;
    for (const file of files) {
      const name = legible(file.name);
      try {
        const { chats, strange, refused } = await read(file);
        for (const { file, why } of refused) this.problems.push(m.sessions_import_not({ file: legible(file), why }));
        if (strange > 0) this.problems.push(m.sessions_import_strange({ file: name, count: strange }));
        this.all += chats.length;
        await this.#addAll(chats);
      } catch (error) {
        if (error instanceof Unimportable) this.problems.push(m.sessions_import_not({ file: name, why: error.message }));
        else this.problems.push(problemOf(error, m.sessions_doing_import_file({ file: name })).message);
      }
    }
    this.working = false;
    this.ended = true;
  }

  /** Ends it; what is there already stays. */
  stop(): void {
    this.#stopped = true;
  }

  async #addAll(chats: readonly Importable[]): Promise<void> {
    for (const each of chats) {
      if (this.#stopped) return;
      try {
        await this.#add(each);
        this.added++;
      } catch (error) {
        if (error instanceof RpcError && error.code === 'ALREADY_EXISTS') this.known++;
        else {
          // A chat exported by Perch is named by its file, because its title does not say where it comes from.
          const name = legible(each.kind === 'perch' ? each.file : each.chat.title);
          const line = wrongLineOf(error);
          this.problems.push(
            line === undefined
              ? problemOf(error, m.sessions_doing_import_chat({ title: name })).message
              : m.sessions_import_not({ file: name, why: m.sessions_import_wrong_line({ line: number(line) }) }),
          );
        }
      }
      this.done++;
    }
  }

  async #add(each: Importable): Promise<void> {
    if (each.kind === 'perch') {
      const { session } = await gateway.call('sessions.import', { content: each.content, ...titled(each.title) });
      sessions.took(session);
      return;
    }
    const { chat } = each;
    const { session } = await gateway.call('sessions.import', {
      content: jsonLines(chat),
      ...titled(chat.title),
      ...(/^[\w-]{1,120}$/.test(chat.id) ? { sessionId: `import-${chat.id}` } : {}),
    });
    sessions.took(session);
    const { path } = session;
    const tags = tagsOf(chat);
    if (tags.length > 0) await gateway.call('sessions.tag', { path, tags });
    if (chat.pinned) await gateway.call('sessions.pin', { path, pinned: true });
    if (chat.archived) await gateway.call('sessions.archive', { path, archived: true });
  }
}

/** Returns the line of the file that the gateway could not read, from 1. */
function wrongLineOf(error: unknown): number | undefined {
  const line = error instanceof RpcError ? error.extra.details?.['line'] : undefined;
  return typeof line === 'number' ? line : undefined;
}

const titled = (title: string): { title?: string } => (canBeSeen(title) ? { title: cut(title, TITLE_CHARS) } : {});
