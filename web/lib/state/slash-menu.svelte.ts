import { getDefaultVariables } from '#lib/prompts/default-variables.ts';
import { findUserVariables, fillPrompt, hasAppVariable } from '#shared/prompts/prompt-variables.ts';
import { findPrompts } from '#lib/prompts/prompt-names.ts';
import { type Prompt } from '#shared/prompts/prompt.ts';
import type { MessageDraft } from './message-draft.svelte.ts';
import { prompts } from './prompt-library.svelte.ts';
import { type SkillChoice, skillChoices } from './skill-choices.svelte.ts';

/** A slash and a word at the very beginning: no path, which goes on with another. */
const SLASH_WORD = /^\/([^\s/]*)$/;

/** An item of the list: a prompt, or a skill, which has no text and is called by its name. */
export type SlashChoice = Prompt | SkillChoice;

/** A prompt whose variables are being asked for. */
export interface PromptFilling {
  prompt: Prompt;
  variables: readonly string[];
  /** Values that are known without asking. */
  values: ReadonlyMap<string, string>;
}

/** The list of prompts and skills over a message field: which are meant by what stands before the caret, and what becomes of the one that is taken. */
export class SlashMenu {
  caret = $state(0);
  isFocused = $state(false);
  highlighted = $state(0);
  filling = $state.raw<PromptFilling | null>(null);
  /** Agent whose skills are offered; null for none. */
  agentId = $state<string | null>(null);
  /** The words that Esc has closed it for. */
  #closedText = $state<string | null>(null);
  #selectionId = 0;
  readonly #draft: MessageDraft;
  readonly #listId: string;
  readonly #setCaret: (caret: number) => void;

  /** `list`: the id of the list on the page, with which its options' ids begin. `placed`: puts the caret there, once the field has the text. */
  constructor(draft: MessageDraft, list: string, placed: (caret: number) => void) {
    this.#draft = draft;
    this.#listId = list;
    this.#setCaret = placed;
  }

  /** Text after the slash; null if there is none or the caret is elsewhere. */
  readonly query = $derived.by(() => {
    const { text } = this.#draft;
    const word = SLASH_WORD.exec(text.slice(0, this.caret))?.[1];
    return word === undefined || /^\S/.test(text.slice(this.caret)) ? null : word;
  });

  readonly isOpen = $derived(this.isFocused && this.filling === null && this.query !== null && this.query !== this.#closedText);
  readonly matches = $derived<SlashChoice[]>(
    this.isOpen && prompts.list
      ? findPrompts<SlashChoice>([...prompts.list, ...skillChoices.getChoices(this.agentId)], this.query ?? '')
      : [],
  );
  readonly hasMatches = $derived(this.matches.length > 0);
  readonly activeIndex = $derived(Math.min(this.highlighted, this.matches.length - 1));

  /** ARIA attributes of the field. */
  readonly aria = $derived.by(() =>
    this.hasMatches
      ? {
          'aria-autocomplete': 'list' as const,
          'aria-haspopup': 'listbox' as const,
          'aria-controls': this.#listId,
          'aria-activedescendant': `${this.#listId}-${this.activeIndex}`,
        }
      : {},
  );

  /** Something was written: what was closed for other words opens again. */
  onTextChanged(): void {
    this.highlighted = 0;
    if (this.query !== this.#closedText) this.#closedText = null;
  }

  close(): void {
    this.#closedText = this.query;
  }

  /** Another chat: nothing that was begun here goes on there. */
  reset(): void {
    this.#selectionId++;
    this.filling = null;
    this.#closedText = null;
  }

  /** Whether the key was for the list. */
  handleKey(event: KeyboardEvent): boolean {
    const choice = this.matches[this.activeIndex];
    const count = this.matches.length;
    if (!choice || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === 'ArrowDown') this.highlighted = (this.activeIndex + 1) % count;
    else if (event.key === 'ArrowUp') this.highlighted = (this.activeIndex + count - 1) % count;
    else if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' || event.key === 'Tab') void this.insert(choice);
    else return false;
    event.preventDefault();
    return true;
  }

  /** Puts a prompt, or the call of a skill, into the message, in the place of the slash and its word; what only a person knows is asked for first. */
  async insert(prompt: SlashChoice): Promise<void> {
    const taking = ++this.#selectionId;
    if (prompt.text === null) return this.#insert(`/${prompt.name} `);
    const { date, time } = getDefaultVariables(new Date());
    const values = new Map([
      ['date', date],
      ['time', time],
    ]);
    const askedVariables = findUserVariables(prompt.text);
    if (hasAppVariable(prompt.text, 'clipboard')) {
      const copied = await readClipboard();
      if (copied === '') askedVariables.push('clipboard');
      else values.set('clipboard', copied);
    }
    if (taking !== this.#selectionId) return;
    if (askedVariables.length > 0) this.filling = { prompt, variables: askedVariables, values };
    else this.#insert(fillPrompt(prompt.text, values));
  }

  /** The answers to what was asked. */
  submitValues(entered: ReadonlyMap<string, string>): void {
    if (!this.filling) return;
    const { prompt, values } = this.filling;
    this.filling = null;
    this.#insert(fillPrompt(prompt.text, new Map([...values, ...entered])));
  }

  #insert(text: string): void {
    const draft = this.#draft;
    const rest = this.query === null ? null : draft.text.slice(this.caret);
    if (rest === null) draft.append(text, []);
    else {
      draft.text = text + rest;
      draft.scheduleSave();
    }
    this.caret = draft.text.length - (rest?.length ?? 0);
    this.#setCaret(this.caret);
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
