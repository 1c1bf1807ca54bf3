import { type KeyBindingOverrides, getBoundKeys, type ShortcutName, DEFAULT_SHORTCUTS } from './shortcuts.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';

/** The keyboard shortcuts chosen in this browser. */
class KeyBindings {
  overrides = $state.raw<KeyBindingOverrides>(parseBindings(safeLocalStorage.read('keys')));

  constructor() {
    safeLocalStorage.watch('keys', (value) => (this.overrides = parseBindings(value)));
  }

  /** Keys of a shortcut; null if it is switched off. */
  getKeys(name: ShortcutName): string | null {
    return getBoundKeys(name, this.overrides);
  }

  /** Sets the keys of a shortcut; null switches it off. */
  set(name: ShortcutName, keys: string | null): void {
    const { [name]: _, ...others } = this.overrides;
    this.overrides = keys === DEFAULT_SHORTCUTS[name].keys ? others : { ...others, [name]: keys };
    safeLocalStorage.write('keys', Object.keys(this.overrides).length === 0 ? null : JSON.stringify(this.overrides));
  }

  reset(name: ShortcutName): void {
    this.set(name, DEFAULT_SHORTCUTS[name].keys);
  }
}

function parseBindings(value: string | null): KeyBindingOverrides {
  try {
    const stored: unknown = JSON.parse(value ?? '{}');
    const entries = typeof stored === 'object' && stored !== null ? Object.entries(stored) : [];
    return Object.fromEntries(entries.filter(([name, keys]) => name in DEFAULT_SHORTCUTS && (keys === null || typeof keys === 'string')));
  } catch {
    return {};
  }
}

export const keyBindings = new KeyBindings();
