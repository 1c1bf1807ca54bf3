import { isComposed } from '#lib/composing.ts';
import { type ShortcutName, shortcutOf } from '#lib/shortcuts.ts';
import { kept } from './kept.ts';
import { keyBindings } from './key-bindings.svelte.ts';

/** Under this width the sidebar is a drawer over the page. */
const NARROW = '(max-width: 767px)';

type Action = () => unknown;

/** Open panels of the page, and the components that handle shortcuts. */
class Layout {
  readonly apple = /Mac|iPhone|iPad/.test(navigator.platform);
  narrow = $state(false);
  /** The sidebar beside the page, on wide screens. */
  docked = $state(kept.read('sidebar') !== 'hidden');
  /** Chats in folders stand by those in the sidebar, and not by date. */
  byFolder = $state(kept.read('chats') === 'folders');
  /** The drawer over the page, on narrow ones. */
  drawer = $state(false);
  modelsOpen = $state(false);
  helpOpen = $state(false);
  /** The search field is to have the keyboard, once it is there. */
  searchAsked = $state(false);
  readonly #actions = new Map<ShortcutName, Action>();

  readonly sidebarShown = $derived(this.narrow ? this.drawer : this.docked);

  constructor() {
    const narrow = matchMedia(NARROW);
    this.narrow = narrow.matches;
    narrow.addEventListener('change', () => {
      this.narrow = narrow.matches;
      this.drawer = false;
    });
  }

  toggleSidebar(): void {
    if (this.narrow) this.drawer = !this.drawer;
    else {
      this.docked = !this.docked;
      kept.write('sidebar', this.docked ? null : 'hidden');
    }
  }

  listByFolder(byFolder: boolean): void {
    this.byFolder = byFolder;
    kept.write('chats', byFolder ? 'folders' : null);
  }

  search(): void {
    if (!this.sidebarShown) this.toggleSidebar();
    this.searchAsked = true;
  }

  /** Answers to a shortcut until the returned function is called. An action that returns false leaves the key to the browser. */
  onShortcut(name: ShortcutName, action: Action): () => void {
    this.#actions.set(name, action);
    return () => {
      if (this.#actions.get(name) === action) this.#actions.delete(name);
    };
  }

  /** Does what the keys would do. */
  act(name: ShortcutName): void {
    this.#actions.get(name)?.();
  }

  handleKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || isComposed(event)) return;
    const name = shortcutOf(event, this.apple, keyBindings.own);
    const action = name && this.#actions.get(name);
    if (!action) return;
    // Dialogs over the page and menus have Esc first.
    if (event.key === 'Escape' && document.querySelector('dialog:modal, [popover]:popover-open')) return;
    if (action() !== false) event.preventDefault();
  }
}

export const layout = new Layout();
