import { fromBase64 } from '#shared/base64.ts';
import { ATTACHMENT_LIMITS, getAttachmentError } from '../files/attachment-limits.ts';
import { createPasteFileName } from './pasted-text.ts';
import { formatNumber } from '../i18n/format.ts';
import { withMessages } from '../i18n/load-messages.ts';
import { m } from '../i18n/messages.ts';
import { drafts } from './drafts.ts';
import type { PickedFile } from './page-db.ts';

const SAVE_DELAY_MS = 250;

/** The message being written, in one chat at a time: its text and files, stored until they are sent. */
export class MessageDraft {
  text = $state('');
  files = $state.raw<PickedFile[]>([]);
  /** Reasons why files could not be added or the message not be sent, as sentences. */
  problems = $state<string[]>([]);
  /** Files that are being read. */
  pendingReads = $state(0);
  /** Null: the draft is not stored. */
  #key: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Stores the current draft and loads that of another chat; resolves once its files are loaded. `key` as in `drafts`, or null. Does nothing if it is open already. */
  async open(key: string | null): Promise<void> {
    if (key !== null && key === this.#key) return;
    this.store();
    this.#key = key;
    this.text = key === null ? '' : drafts.text(key);
    this.files = [];
    this.problems = [];
    if (key === null) return;
    const stored = await drafts.files(key).catch(() => []);
    if (this.#key === key && stored.length > 0 && this.files.length === 0) this.files = stored;
  }

  /** Replaces the text. */
  setText(text: string): void {
    this.text = text;
    this.scheduleSave();
  }

  /** Appends a text, and files that have been read. */
  append(text: string, files: PickedFile[]): void {
    this.text = this.text.trim() === '' ? text : `${this.text}\n${text}`;
    if (files.length > 0) this.#setFiles([...this.files, ...files]);
    this.scheduleSave();
  }

  /** Reads files and adds those that fit into the message. */
  async add(list: Iterable<File>, pasted = false): Promise<void> {
    this.problems = [];
    for (const file of list) {
      const attachmentError = getAttachmentError(file, this.files);
      if (attachmentError) {
        this.#reportProblem(attachmentError);
        continue;
      }
      this.pendingReads++;
      try {
        const { toPickedFile } = await withMessages(import('../files/pick-file.ts'));
        const picked = await toPickedFile(file);
        // Other files may have been added in the meantime.
        const lateError = getAttachmentError(file, this.files);
        if (typeof picked === 'string') this.#reportProblem(picked);
        else if (lateError) this.#reportProblem(lateError);
        else this.#setFiles([...this.files, { ...picked, ...(pasted ? { pasted } : {}) }]);
      } catch {
        // The reader module could not be loaded.
        this.#reportProblem(m.chat_file_unreadable({ name: file.name }));
      } finally {
        this.pendingReads--;
      }
    }
  }

  /** Adds a problem, unless it is listed already. */
  #reportProblem(problem: string): void {
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }

  /** Adds a long pasted text as a file, so that the field stays readable. */
  addPasted(text: string): Promise<void> {
    return this.add([new File([text], createPasteFileName(this.files), { type: 'text/plain' })], true);
  }

  /** Moves the text of a pasted file into the message at a position. Returns the position after it. */
  insertFileText(index: number, at: number): number {
    const file = this.files[index];
    if (!file) return at;
    const text = new TextDecoder().decode(fromBase64(file.content));
    this.text = this.text.slice(0, at) + text + this.text.slice(at);
    this.remove(index);
    this.scheduleSave();
    return at + text.length;
  }

  remove(index: number): void {
    this.#setFiles(this.files.toSpliced(index, 1));
  }

  /** Stores the changed text after a short delay. */
  scheduleSave(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.store(), SAVE_DELAY_MS);
  }

  /** Stores the text now. */
  store(): void {
    clearTimeout(this.#timer);
    if (this.#key === null) return;
    const textSaved = drafts.storeText(this.#key, this.text);
    const storageProblem = m.chat_draft_unkept();
    if (textSaved === this.problems.includes(storageProblem))
      this.problems = textSaved ? this.problems.filter((problem) => problem !== storageProblem) : [...this.problems, storageProblem];
  }

  /** Whether there is something to send: text or files. */
  get hasContent(): boolean {
    return this.text.trim() !== '' || this.files.length > 0;
  }

  /**
   * Returns the message to be sent, with the notes of its drawings as text, and clears the draft. Null if the message is too long; the
   * reason is in `problems` then.
   */
  consume(): { text: string; files: PickedFile[] } | null {
    const notes = this.files.flatMap(({ drawing }) => (drawing && drawing.notes !== '' ? [drawing.notes] : []));
    const text = [this.text, ...notes].filter((part) => part.trim() !== '').join('\n\n');
    // The notes are part of the text now, which returns to the field if the message is edited.
    const files = this.files.map((file) => (file.drawing ? { ...file, drawing: { ...file.drawing, notes: '' } } : file));
    if (text.length > ATTACHMENT_LIMITS.messageChars) {
      this.problems = [m.chat_message_too_long({ count: text.length, most: formatNumber(ATTACHMENT_LIMITS.messageChars) })];
      return null;
    }
    this.text = '';
    this.files = [];
    this.problems = [];
    this.store();
    if (this.#key !== null) void drafts.remove(this.#key);
    return { text, files };
  }

  #setFiles(files: PickedFile[]): void {
    this.files = files;
    if (this.#key === null) return;
    drafts.storeFiles(this.#key, files).catch(() => {
      this.problems.push(m.chat_files_unkept());
    });
  }
}
