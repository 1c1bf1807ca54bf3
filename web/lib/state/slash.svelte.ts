import { ownValues } from '#lib/prompts/own-values.ts';
import { findAskedVariables, fillPrompt, wants } from '#shared/prompts/variables.ts';
import { matching } from '#lib/prompts/prompt.ts';
import { type Prompt } from '#shared/prompts/prompt.ts';
import type { Draft } from './draft.svelte.ts';
import { prompts } from './prompts.svelte.ts';
import { type SkillChoice, skillChoices } from './skill-choices.svelte.ts';

/** A slash and a word at the very beginning: no path, which goes on with another. */
const WORD = /^\/([^\s/]*)$/;

/** An item of the list: a prompt, or a skill, which has no text and is called by its name. */
export type Choice = Prompt | SkillChoice;

/** A prompt whose variables are being asked for. */
export interface Filling {
  prompt: Prompt;
  asked: readonly string[];
  /** Values that are known without asking. */
  values: ReadonlyMap<string, string>;
}

/** The list of prompts and skills over a message field: which are meant by what stands before the caret, and what becomes of the one that is taken. */
export class Slash {
  caret = $state(0);
  focused = $state(false);
  active = $state(0);
  filling = $state.raw<Filling | null>(null);
  /** Agent whose skills are offered; null for none. */
  agentId = $state<string | null>(null);
  /** The words that Esc has closed it for. */
  #closed = $state<string | null>(null);
  #taking = 0;
  readonly #draft: Draft;
  readonly #list: string;
  readonly #placed: (caret: number) => void;

  /** `list`: the id of the list on the page, with which its options' ids begin. `placed`: puts the caret there, once the field has the text. */
  constructor(draft: Draft, list: string, placed: (caret: number) => void) {
    this.#draft = draft;
    this.#list = list;
    this.#placed = placed;
  }

  /** Text after the slash; null if there is none or the caret is elsewhere. */
  readonly typed = $derived.by(() => {
    const { text } = this.#draft;
    const word = WORD.exec(text.slice(0, this.caret))?.[1];
    return word === undefined || /^\S/.test(text.slice(this.caret)) ? null : word;
  });

  readonly wanted = $derived(this.focused && this.filling === null && this.typed !== null && this.typed !== this.#closed);
  readonly found = $derived<Choice[]>(
    this.wanted && prompts.list ? matching<Choice>([...prompts.list, ...skillChoices.of(this.agentId)], this.typed ?? '') : [],
  );
  readonly open = $derived(this.found.length > 0);
  readonly chosen = $derived(Math.min(this.active, this.found.length - 1));

  /** ARIA attributes of the field. */
  readonly aria = $derived.by(() =>
    this.open
      ? {
          'aria-autocomplete': 'list' as const,
          'aria-haspopup': 'listbox' as const,
          'aria-controls': this.#list,
          'aria-activedescendant': `${this.#list}-${this.chosen}`,
        }
      : {},
  );

  /** Something was written: what was closed for other words opens again. */
  changed(): void {
    this.active = 0;
    if (this.typed !== this.#closed) this.#closed = null;
  }

  close(): void {
    this.#closed = this.typed;
  }

  /** Another chat: nothing that was begun here goes on there. */
  leave(): void {
    this.#taking++;
    this.filling = null;
    this.#closed = null;
  }

  /** Whether the key was for the list. */
  key(event: KeyboardEvent): boolean {
    const choice = this.found[this.chosen];
    const count = this.found.length;
    if (!choice || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === 'ArrowDown') this.active = (this.chosen + 1) % count;
    else if (event.key === 'ArrowUp') this.active = (this.chosen + count - 1) % count;
    else if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' || event.key === 'Tab') void this.take(choice);
    else return false;
    event.preventDefault();
    return true;
  }

  /** Puts a prompt, or the call of a skill, into the message, in the place of the slash and its word; what only a person knows is asked for first. */
  async take(prompt: Choice): Promise<void> {
    const taking = ++this.#taking;
    if (prompt.text === null) return this.#put(`/${prompt.name} `);
    const { date, time } = ownValues(new Date());
    const values = new Map([
      ['date', date],
      ['time', time],
    ]);
    const asked = findAskedVariables(prompt.text);
    if (wants(prompt.text, 'clipboard')) {
      const copied = await readClipboard();
      if (copied === '') asked.push('clipboard');
      else values.set('clipboard', copied);
    }
    if (taking !== this.#taking) return;
    if (asked.length > 0) this.filling = { prompt, asked, values };
    else this.#put(fillPrompt(prompt.text, values));
  }

  /** The answers to what was asked. */
  filled(answers: ReadonlyMap<string, string>): void {
    if (!this.filling) return;
    const { prompt, values } = this.filling;
    this.filling = null;
    this.#put(fillPrompt(prompt.text, new Map([...values, ...answers])));
  }

  #put(text: string): void {
    const draft = this.#draft;
    const rest = this.typed === null ? null : draft.text.slice(this.caret);
    if (rest === null) draft.fill(text, []);
    else {
      draft.text = text + rest;
      draft.changed();
    }
    this.caret = draft.text.length - (rest?.length ?? 0);
    this.#placed(this.caret);
  }
}

/** Empty where there is no text, or the person does not allow it. */
async function readClipboard(): Promise<string> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return '';
  }
}
