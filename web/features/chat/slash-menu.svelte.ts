import { getDefaultVariables } from '#app/state/default-variables.ts';
import { findUserVariables, fillPrompt, hasAppVariable } from '#shared/prompts/prompt-variables.ts';
import { findPrompts } from '#app/state/prompt-names.ts';
import { type Prompt } from '#shared/prompts/prompt.ts';
import type { MessageDraft } from '#app/state/message-draft.svelte.ts';
import { prompts } from '#app/state/prompt-library.svelte.ts';
import { type SkillChoice, skillChoices } from './skill-choices.svelte.ts';

/** A slash and a word at the beginning of a text; not a path, which contains another slash. */
const SLASH_WORD = /^\/([^\s/]*)$/;

/** An item of the list: a prompt, or a skill, which has no text and is called by its name. */
type SlashChoice = Prompt | SkillChoice;

/** A prompt for whose variables the person is asked. */
export interface PromptFilling {
  prompt: Prompt;
  variables: readonly string[];
  /** Values that are known without asking. */
  values: ReadonlyMap<string, string>;
}

/** The list of prompts and skills above a message field: finds those that match the word before the caret, and inserts the selected one. */
export class SlashMenu {
  caret = $state(0);
  isFocused = $state(false);
  highlighted = $state(0);
  filling = $state.raw<PromptFilling | null>(null);
  /** Agent whose skills are offered; null for none. */
  agentId = $state<string | null>(null);
  /** Query for which Esc has closed the list. */
  #closedText = $state<string | null>(null);
  #selectionId = 0;
  readonly #draft: MessageDraft;
  readonly #listId: string;
  readonly #setCaret: (caret: number) => void;

  /** `listId`: id of the list element, and prefix of the ids of its options. `setCaret`: moves the caret once the field shows the text. */
  constructor(draft: MessageDraft, listId: string, setCaret: (caret: number) => void) {
    this.#draft = draft;
    this.#listId = listId;
    this.#setCaret = setCaret;
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

  /** Called when the text has changed: a list closed for another query opens again. */
  onTextChanged(): void {
    this.highlighted = 0;
    if (this.query !== this.#closedText) this.#closedText = null;
  }

  close(): void {
    this.#closedText = this.query;
  }

  /** Closes everything, when another chat is opened. */
  reset(): void {
    this.#selectionId++;
    this.filling = null;
    this.#closedText = null;
  }

  /** Handles a key. Returns whether it was for the list. */
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

  /** Replaces the slash and its word with a prompt or the call of a skill. Asks the person for unknown variables first. */
  async insert(prompt: SlashChoice): Promise<void> {
    const selectionId = ++this.#selectionId;
    if (prompt.text === null) return this.#insert(`/${prompt.name} `);
    const { date, time } = getDefaultVariables(new Date());
    const values = new Map([
      ['date', date],
      ['time', time],
    ]);
    const variables = findUserVariables(prompt.text);
    if (hasAppVariable(prompt.text, 'clipboard')) {
      const clipboardText = await readClipboard();
      if (clipboardText === '') variables.push('clipboard');
      else values.set('clipboard', clipboardText);
    }
    if (selectionId !== this.#selectionId) return;
    if (variables.length > 0) this.filling = { prompt, variables, values };
    else this.#insert(fillPrompt(prompt.text, values));
  }

  /** Inserts the prompt with the values that the person entered. */
  submitValues(entered: ReadonlyMap<string, string>): void {
    if (!this.filling) return;
    const { prompt, values } = this.filling;
    this.filling = null;
    this.#insert(fillPrompt(prompt.text, new Map([...values, ...entered])));
  }

  #insert(text: string): void {
    const draft = this.#draft;
    const textAfter = this.query === null ? null : draft.text.slice(this.caret);
    if (textAfter === null) draft.append(text, []);
    else {
      draft.text = text + textAfter;
      draft.scheduleSave();
    }
    this.caret = draft.text.length - (textAfter?.length ?? 0);
    this.#setCaret(this.caret);
  }
}

/** Text of the clipboard; empty if it has none, or the person does not allow access. */
async function readClipboard(): Promise<string> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return '';
  }
}
