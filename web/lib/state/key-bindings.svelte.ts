import { type Bindings, boundKeys, type ShortcutName, SHORTCUTS } from '#lib/shortcuts.ts';
import { kept } from './kept.ts';

/** The keyboard shortcuts chosen in this browser. */
class KeyBindings {
  own = $state.raw<Bindings>(bindingsOf(kept.read('keys')));

  constructor() {
    kept.watch('keys', (value) => (this.own = bindingsOf(value)));
  }

  /** The keys that do it; null where it is switched off. */
  of(name: ShortcutName): string | null {
    return boundKeys(name, this.own);
  }

  /** Null switches it off. */
  set(name: ShortcutName, keys: string | null): void {
    const { [name]: _, ...others } = this.own;
    this.own = keys === SHORTCUTS[name].keys ? others : { ...others, [name]: keys };
    kept.write('keys', Object.keys(this.own).length === 0 ? null : JSON.stringify(this.own));
  }

  reset(name: ShortcutName): void {
    this.set(name, SHORTCUTS[name].keys);
  }
}

function bindingsOf(value: string | null): Bindings {
  try {
    const given: unknown = JSON.parse(value ?? '{}');
    const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
    return Object.fromEntries(entries.filter(([name, keys]) => name in SHORTCUTS && (keys === null || typeof keys === 'string')));
  } catch {
    return {};
  }
}

export const keyBindings = new KeyBindings();
