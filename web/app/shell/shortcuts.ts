import { m } from '../i18n/messages.ts';

/** Default keys of the shortcuts. Mod is Cmd on Apple devices and Ctrl elsewhere. */
export const DEFAULT_SHORTCUTS = {
  newChat: { keys: 'Mod+Shift+O', label: () => m.shell_new_chat() },
  search: { keys: 'Mod+K', label: () => m.shell_shortcut_search() },
  sidebar: { keys: 'Mod+B', label: () => m.shell_shortcut_sidebar() },
  models: { keys: 'Mod+Shift+M', label: () => m.shell_shortcut_models() },
  settings: { keys: 'Mod+,', label: () => m.shell_settings() },
  help: { keys: 'Mod+/', label: () => m.shell_shortcut_help() },
  focus: { keys: 'Shift+Escape', label: () => m.shell_shortcut_focus() },
  stop: { keys: 'Escape', label: () => m.shell_shortcut_stop() },
  copyReply: { keys: 'Mod+Shift+C', label: () => m.shell_shortcut_copy_reply() },
  copyCode: { keys: 'Mod+Shift+;', label: () => m.shell_shortcut_copy_code() },
  allowTool: { keys: 'Mod+Alt+Enter', label: () => m.shell_shortcut_allow_tool() },
  denyTool: { keys: 'Mod+Alt+Backspace', label: () => m.shell_shortcut_deny_tool() },
} as const;
export type ShortcutName = keyof typeof DEFAULT_SHORTCUTS;

/** Keys chosen by the person instead of the defaults; null switches a shortcut off. */
export type KeyBindingOverrides = Readonly<Partial<Record<ShortcutName, string | null>>>;

interface KeyPress {
  key: string;
  code?: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

const KEY_NAMES = Object.keys(DEFAULT_SHORTCUTS) as ShortcutName[];
const MODIFIERS = ['Control', 'Meta', 'Shift', 'Alt', 'AltGraph', 'CapsLock', 'Fn'];
const MODIFIER_SYMBOLS: Readonly<Record<string, string>> = { Comma: ',', Period: '.', Slash: '/' };
/** Letters reserved by browsers and text fields. */
const RESERVED_KEYS = ['R', 'W', 'T', 'N', 'Q', 'A', 'C', 'V', 'X', 'Z'];

/** Keys of a shortcut; null if it is switched off. */
export const getBoundKeys = (name: ShortcutName, bindings: KeyBindingOverrides): string | null =>
  bindings[name] === undefined ? DEFAULT_SHORTCUTS[name].keys : bindings[name];

/** A key press in our notation, `Mod+Alt+Shift+K`; null if only modifiers, or unsupported ones, are held. `apple`: Mod is Cmd. */
export function toKeyNotation({ key, code = '', ctrlKey, metaKey, shiftKey, altKey }: KeyPress, apple: boolean): string | null {
  if (MODIFIERS.includes(key) || (apple ? ctrlKey : metaKey)) return null;
  // Latin letters are matched by character, whatever the keyboard layout.
  const plain = /^[a-z]$/i.test(key) ? undefined : getPhysicalKey(key, code, altKey || shiftKey);
  const modifiers = [(apple ? metaKey : ctrlKey) && 'Mod', altKey && 'Alt', shiftKey && 'Shift'].filter((each) => each !== false);
  return [...modifiers, plain ?? (key.length === 1 ? key.toUpperCase() : key)].join('+');
}

/** The character on the physical key, if the key press produces another one: with Shift or Alt, or on a keyboard without Latin letters. */
function getPhysicalKey(key: string, code: string, isChanged: boolean): string | undefined {
  if (code === 'Semicolon') return ';';
  const isNonLatin = !/^[ -~]*$/.test(key);
  return (
    (isNonLatin ? MODIFIER_SYMBOLS[code] : undefined) ?? (isNonLatin || isChanged ? /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1] : undefined)
  );
}

/** The shortcut of a key press; null if there is none. */
export function findShortcut(event: KeyPress, apple: boolean, bindings: KeyBindingOverrides = {}): ShortcutName | null {
  const keys = toKeyNotation(event, apple);
  return keys === null ? null : (KEY_NAMES.find((name) => getBoundKeys(name, bindings) === keys) ?? null);
}

/** Why keys cannot be used for a shortcut, as a sentence; null if they can. */
export function getBindingError(keys: string, name: ShortcutName, bindings: KeyBindingOverrides): string | null {
  const parts = keys.split('+');
  const last = parts.at(-1) ?? '';
  if (!/^F\d+$/.test(last) && last !== 'Escape' && !parts.includes('Mod') && !parts.includes('Alt'))
    return m.shell_shortcut_needs_modifier();
  if (parts.length === 2 && parts[0] === 'Mod' && RESERVED_KEYS.includes(last)) return m.shell_shortcut_browsers();
  const conflicting = KEY_NAMES.find((each) => each !== name && getBoundKeys(each, bindings) === keys);
  return conflicting ? m.shell_shortcut_taken({ shortcut: DEFAULT_SHORTCUTS[conflicting].label() }) : null;
}

/** Formats keys with the symbols of this machine's keyboard. */
export function formatKeys(keys: string, apple: boolean): string[] {
  const names: Record<string, string> = apple ? { Mod: '⌘', Alt: '⌥', Shift: '⇧', Escape: 'esc' } : { Mod: 'Ctrl', Escape: 'Esc' };
  return keys.split('+').map((part) => names[part] ?? part);
}
