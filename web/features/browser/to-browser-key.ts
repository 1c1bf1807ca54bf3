type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing' | 'getModifierState'>;

/** Keys that produce no character, by names that both sides use. */
const NAMED_KEYS = /^(Enter|Tab|Backspace|Delete|Insert|Escape|Home|End|PageUp|PageDown|Arrow(Up|Down|Left|Right)|F([1-9]|1[0-2]))$/;
const ASCII = /^[ -~]$/;

/** The shortcut that returns control; it is never sent to the page. */
export const isReleaseShortcut = ({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>): boolean => key === 'Escape' && shiftKey;

/**
 * Converts a key press for `browser.input`. Null leaves the key to the text field: composed and pasted text and characters outside ASCII are
 * sent as text. Control, or Command on a Mac, becomes that of the computer on which the browser runs.
 */
export function toBrowserKey(event: KeyPress, apple: boolean): string | null {
  const { key, altKey, shiftKey, isComposing } = event;
  if (isComposing) return null;
  const mod = apple ? event.metaKey : event.ctrlKey;
  const otherMod = apple ? event.ctrlKey : event.metaKey;
  const isCharacter = ASCII.test(key);
  // AltGr and a Mac's Option produce further characters.
  const thirdLevel = event.getModifierState('AltGraph') || (apple && altKey && !mod);
  if (!isCharacter && !NAMED_KEYS.test(key)) return null;
  if (isCharacter && (thirdLevel || otherMod)) return thirdLevel ? key : null;
  // The clipboard of this computer is used: pasted content is sent as text.
  if (mod && !altKey && key.toLowerCase() === 'v') return null;
  const modifiers = [mod && 'ControlOrMeta', altKey && !thirdLevel && 'Alt', shiftKey && (!isCharacter || mod || altKey) && 'Shift'];
  return [...modifiers.filter((each) => each !== false), key].join('+');
}
