/** Characters that change or isolate the order of text: in a name they would affect the words around it too. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text in its reading order, without characters that change it. */
export const stripBidiControls = (text: string): string => text.replaceAll(BIDI_CONTROLS, '');

/** Removes bidirectional overrides: no language needs them, and they can make a text read differently. */
export const stripBidiOverrides = (text: string): string => text.replaceAll(/[\u202d\u202e]/g, '');

/** Whether a text has visible characters, not just spaces and zero-width characters. */
export const hasVisibleText = (text: string): boolean => /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text);

/** Error message for a name without visible characters. */
export const INVISIBLE_NAME_MESSAGE = 'must contain a visible character';

/** The name, or `fallback` if there is none or it has no visible characters. */
export const toVisibleName = <T>(name: string | undefined, fallback: T): string | T =>
  name !== undefined && hasVisibleText(name) ? name : fallback;
