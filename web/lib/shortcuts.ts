/** What keys do; Mod is Cmd on machines of Apple, Ctrl elsewhere. */
export const SHORTCUTS = {
  newChat: { keys: 'Mod+Shift+O', label: 'New chat' },
  search: { keys: 'Mod+K', label: 'Search the chats' },
  sidebar: { keys: 'Mod+B', label: 'Show or hide the sidebar' },
  models: { keys: 'Mod+Shift+M', label: 'Choose a model' },
  settings: { keys: 'Mod+,', label: 'Settings' },
  help: { keys: 'Mod+/', label: 'This list' },
  focus: { keys: 'Shift+Escape', label: 'Go to the message field' },
  stop: { keys: 'Escape', label: 'Stop the reply' },
  copyReply: { keys: 'Mod+Shift+C', label: 'Copy the last reply' },
  copyCode: { keys: 'Mod+Shift+;', label: 'Copy the last code' },
} as const;
export type ShortcutName = keyof typeof SHORTCUTS;

interface Pressed {
  key: string;
  code?: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** Which shortcut a key press is; null for none. `apple`: Mod is Cmd. */
export function shortcutOf(event: Pressed, apple: boolean): ShortcutName | null {
  const mod = apple ? event.metaKey : event.ctrlKey;
  if (event.altKey || (apple ? event.ctrlKey : event.metaKey)) return null;
  // With Shift a key gives another character: the physical key tells which it is.
  const key = event.code === 'Semicolon' ? ';' : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  for (const [name, { keys }] of Object.entries(SHORTCUTS) as [ShortcutName, { keys: string }][]) {
    const parts = keys.split('+');
    if (parts.includes('Mod') === mod && parts.includes('Shift') === event.shiftKey && parts.at(-1) === key) return name;
  }
  return null;
}

/** Keys as they are written on this machine's keyboard. */
export function keysOf(name: ShortcutName, apple: boolean): string[] {
  const names: Record<string, string> = apple ? { Mod: '⌘', Shift: '⇧', Escape: 'esc' } : { Mod: 'Ctrl', Escape: 'Esc' };
  return SHORTCUTS[name].keys.split('+').map((part) => names[part] ?? part);
}
