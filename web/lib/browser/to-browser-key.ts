type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing' | 'getModifierState'>;

/** Keys that write nothing, by the names that both sides know them by. */
const NAMED_KEYS = /^(Enter|Tab|Backspace|Delete|Insert|Escape|Home|End|PageUp|PageDown|Arrow(Up|Down|Left|Right)|F([1-9]|1[0-2]))$/;
const ASCII = /^[ -~]$/;

/** The key that gives the wheel back, and never goes to the page. */
export const isReleaseShortcut = ({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>): boolean => key === 'Escape' && shiftKey;

/**
 * Converts a key press for `browser.input`; null leaves it to the text field: composed and pasted text, and keys of no plain keyboard, come
 * as text. Control, or Command on a Mac, becomes the one of the browser's own computer.
 */
export function toBrowserKey(event: KeyPress, apple: boolean): string | null {
  const { key, altKey, shiftKey, isComposing } = event;
  if (isComposing) return null;
  const mod = apple ? event.metaKey : event.ctrlKey;
  const other = apple ? event.ctrlKey : event.metaKey;
  const writes = ASCII.test(key);
  // AltGr and a Mac's Option write characters of their own.
  const thirdLevel = event.getModifierState('AltGraph') || (apple && altKey && !mod);
  if (!writes && !NAMED_KEYS.test(key)) return null;
  if (writes && (thirdLevel || other)) return thirdLevel ? key : null;
  // The person's clipboard is here, not there: pasting comes as text.
  if (mod && !altKey && key.toLowerCase() === 'v') return null;
  const modifiers = [mod && 'ControlOrMeta', altKey && !thirdLevel && 'Alt', shiftKey && (!writes || mod || altKey) && 'Shift'];
  return [...modifiers.filter((each) => each !== false), key].join('+');
}
