import { goto } from '$app/navigation';
import { type ImportReading, isSavedChat, readImport } from '#shared/import/read-import.ts';
import { ImportError } from '#shared/import/import-error.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { ChatImport } from '#app/state/chat-import.svelte.ts';
import { MessageDraft } from '#app/state/message-draft.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { NewDrawing } from '#features/annotate/index.ts';
import type { SharedContent } from '#app/incoming/shared-form.ts';
import { getFileKind } from './file-kind.ts';

/**
 * Routes incoming content: pictures to new drawings, saved chats and exports of other programs to the list of chats, everything else to a
 * new message.
 */
export class IncomingContent {
  problem = $state.raw<Problem | null>(null);
  isWorking = $state(false);
  #text: string;
  #drawings: File[];
  #chats: File[];
  #otherFiles: File[];
  #exports: File[] | null = null;
  /** Files that were read to detect an export. */
  readonly #readings = new WeakMap<File, ImportReading>();
  #chat: string | null = null;

  constructor({ text, files }: SharedContent) {
    this.#text = text;
    this.#drawings = files.filter((file) => getFileKind(file) === 'drawing');
    this.#chats = files.filter((file) => getFileKind(file) === 'chat');
    this.#otherFiles = files.filter((file) => getFileKind(file) === 'other');
  }

  /** Resolves to whether everything was placed and is on screen. Calling it again retries what failed. */
  async open(): Promise<boolean> {
    this.problem = null;
    this.isWorking = true;
    try {
      return (await this.#importChats()) && (await this.#importExports()) && (await this.#addToDraft()) && (await this.#createDrawing());
    } finally {
      this.isWorking = false;
    }
  }

  async #importChats(): Promise<boolean> {
    for (;;) {
      const [file] = this.#chats;
      if (!file) return true;
      if (file.size === 0) {
        this.problem = { message: m.chat_file_empty({ name: file.name }), code: null };
        return false;
      }
      try {
        const { session } = await gateway.call('sessions.import', { content: await file.text() });
        this.#chat = `/chat/${session.agentId}/${session.sessionId}`;
        this.#chats.shift();
      } catch (error) {
        this.problem = toProblem(error, m.chat_doing_open_as_chat({ name: file.name }));
        return false;
      }
    }
  }

  /** Imports exports, also of other programs, which only the content of a JSON file or zip reveals. */
  async #importExports(): Promise<boolean> {
    if (this.#exports === null) {
      const exportFiles = await Promise.all(this.#otherFiles.map(async (file) => ((await this.#isExport(file)) ? [file] : [])));
      const exports = (this.#exports = exportFiles.flat());
      this.#otherFiles = this.#otherFiles.filter((file) => !exports.includes(file));
    }
    for (;;) {
      const [file] = this.#exports;
      if (!file) return true;
      const chatImport = new ChatImport();
      const reading = this.#readings.get(file);
      await chatImport.run([{ path: file.name, blob: file }], async (files) => reading ?? readImport(files));
      const hasImported = chatImport.addedCount > 0 || chatImport.knownCount > 0;
      // Existing chats would be imported a second time.
      if (hasImported || chatImport.problems.length === 0) this.#exports.shift();
      if (hasImported) {
        // Imported chats are sorted by their time, possibly far down in the list.
        toasts.show(chatImport.outcome);
        this.#chat = '/sessions';
      }
      if (chatImport.problems.length === 0) continue;
      this.problem = { message: chatImport.problems.join(' '), code: null };
      return false;
    }
  }

  async #addToDraft(): Promise<boolean> {
    const hasDraft = this.#text !== '' || this.#otherFiles.length > 0;
    if (hasDraft) {
      const draft = new MessageDraft();
      await draft.open('new');
      if (this.#text !== '') draft.append(this.#text, []);
      await draft.add(this.#otherFiles);
      draft.store();
      this.#text = '';
      this.#otherFiles = [];
      if (draft.problems.length > 0) this.problem = { message: draft.problems.join(' '), code: null };
    }
    if (this.problem) return false;
    if (this.#drawings.length === 0) await goto(hasDraft ? '/' : (this.#chat ?? '/'));
    return true;
  }

  async #createDrawing(): Promise<boolean> {
    if (this.#drawings.length === 0) return true;
    const newDrawing = new NewDrawing();
    await newDrawing.createFromFiles(this.#drawings);
    this.problem = newDrawing.problem;
    return newDrawing.problem === null;
  }

  async #isExport(file: File): Promise<boolean> {
    if (!/\.(json|zip)$/i.test(file.name)) return false;
    try {
      const reading = await readImport([{ path: file.name, blob: file }]);
      const isExport = /\.zip$/i.test(file.name) ? reading.chats.length > 0 : isSavedChat(reading);
      if (isExport) this.#readings.set(file, reading);
      return isExport;
    } catch (error) {
      // Such a file could not be read as an attachment either.
      if (error instanceof ImportError) return error.refusal === 'brokenZip';
      throw error;
    }
  }
}
