import { goto } from '$app/navigation';
import { type ImportReading, isSavedChat, readImport } from '#shared/import/read-import.ts';
import { Unimportable } from '#shared/import/refusal.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m as words } from '#lib/i18n/frame.ts';
import { m } from '#lib/i18n/later.ts';
import { ChatImport } from '#lib/state/chat-import.svelte.ts';
import { Draft } from '#lib/state/draft.svelte.ts';
import { toasts } from '#lib/state/toasts.svelte.ts';
import { NewDrawing } from '#lib/studio/new-drawing.svelte.ts';
import type { Shared } from './shared-form.ts';
import { kindOf } from './kind-of.ts';

/**
 * Routes incoming content: pictures to new drawings, saved chats and exports of other programs to the list of chats, everything else to a
 * new message.
 */
export class Incoming {
  problem = $state.raw<Problem | null>(null);
  working = $state(false);
  #text: string;
  #drawings: File[];
  #chats: File[];
  #others: File[];
  #exports: File[] | null = null;
  /** Files that were read to detect an export. */
  readonly #reads = new WeakMap<File, ImportReading>();
  #chat: string | null = null;

  constructor({ text, files }: Shared) {
    this.#text = text;
    this.#drawings = files.filter((file) => kindOf(file) === 'drawing');
    this.#chats = files.filter((file) => kindOf(file) === 'chat');
    this.#others = files.filter((file) => kindOf(file) === 'other');
  }

  /** Resolves to whether everything was placed and is on screen. Calling it again retries what failed. */
  async open(): Promise<boolean> {
    this.problem = null;
    this.working = true;
    try {
      return (await this.#importChats()) && (await this.#importExports()) && (await this.#draft()) && (await this.#draw());
    } finally {
      this.working = false;
    }
  }

  async #importChats(): Promise<boolean> {
    for (;;) {
      const [file] = this.#chats;
      if (!file) return true;
      if (file.size === 0) {
        this.problem = { message: words.chat_file_empty({ name: file.name }), code: null };
        return false;
      }
      try {
        const { session } = await gateway.call('sessions.import', { content: await file.text() });
        this.#chat = `/chat/${session.agentId}/${session.sessionId}`;
        this.#chats.shift();
      } catch (error) {
        this.problem = problemOf(error, m.chat_doing_open_as_chat({ name: file.name }));
        return false;
      }
    }
  }

  /** Of other programs, too: whether a JSON file or a zip is one is only seen in it. */
  async #importExports(): Promise<boolean> {
    if (this.#exports === null) {
      const found = await Promise.all(this.#others.map(async (file) => ((await this.#isExport(file)) ? [file] : [])));
      const exports = (this.#exports = found.flat());
      this.#others = this.#others.filter((file) => !exports.includes(file));
    }
    for (;;) {
      const [file] = this.#exports;
      if (!file) return true;
      const given = new ChatImport();
      const read = this.#reads.get(file);
      await given.run([{ path: file.name, blob: file }], async (files) => read ?? readImport(files));
      const brought = given.added > 0 || given.known > 0;
      // Existing chats would be imported a second time.
      if (brought || given.problems.length === 0) this.#exports.shift();
      if (brought) {
        // Imported chats are sorted by their time, possibly far down in the list.
        toasts.show(given.outcome);
        this.#chat = '/sessions';
      }
      if (given.problems.length === 0) continue;
      this.problem = { message: given.problems.join(' '), code: null };
      return false;
    }
  }

  async #draft(): Promise<boolean> {
    const waits = this.#text !== '' || this.#others.length > 0;
    if (waits) {
      const draft = new Draft();
      await draft.open('new');
      if (this.#text !== '') draft.fill(this.#text, []);
      await draft.add(this.#others);
      draft.keep();
      this.#text = '';
      this.#others = [];
      if (draft.problems.length > 0) this.problem = { message: draft.problems.join(' '), code: null };
    }
    if (this.problem) return false;
    if (this.#drawings.length === 0) await goto(waits ? '/' : (this.#chat ?? '/'));
    return true;
  }

  async #draw(): Promise<boolean> {
    if (this.#drawings.length === 0) return true;
    const fresh = new NewDrawing();
    await fresh.fromFiles(this.#drawings);
    this.problem = fresh.problem;
    return fresh.problem === null;
  }

  async #isExport(file: File): Promise<boolean> {
    if (!/\.(json|zip)$/i.test(file.name)) return false;
    try {
      const read = await readImport([{ path: file.name, blob: file }]);
      const isOne = /\.zip$/i.test(file.name) ? read.chats.length > 0 : isSavedChat(read);
      if (isOne) this.#reads.set(file, read);
      return isOne;
    } catch (error) {
      // Such a file could not be read as an attachment either.
      if (error instanceof Unimportable) return error.refusal === 'brokenZip';
      throw error;
    }
  }
}
