import { isImeComposing } from '#lib/is-ime-composing.ts';
import { type ShortcutName, findShortcut } from '#lib/shortcuts.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { keyBindings } from './key-bindings.svelte.ts';

/** Under this width the sidebar is a drawer over the page. */
const NARROW_QUERY = '(max-width: 767px)';

type ShortcutAction = () => unknown;

/** Open panels of the page, and the components that handle shortcuts. */
class Layout {
  readonly isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  isNarrow = $state(false);
  /** The sidebar beside the page, on wide screens. */
  isDocked = $state(safeLocalStorage.read('sidebar') !== 'hidden');
  /** Chats in folders stand by those in the sidebar, and not by date. */
  isGroupedByFolder = $state(safeLocalStorage.read('chats') === 'folders');
  /** The drawer over the page, on narrow ones. */
  isDrawerOpen = $state(false);
  isModelsOpen = $state(false);
  isHelpOpen = $state(false);
  /** The search field is to have the keyboard, once it is there. */
  isSearchRequested = $state(false);
  readonly #actions = new Map<ShortcutName, ShortcutAction>();

  readonly isSidebarVisible = $derived(this.isNarrow ? this.isDrawerOpen : this.isDocked);

  constructor() {
    const narrow = matchMedia(NARROW_QUERY);
    this.isNarrow = narrow.matches;
    narrow.addEventListener('change', () => {
      this.isNarrow = narrow.matches;
      this.isDrawerOpen = false;
    });
  }

  toggleSidebar(): void {
    if (this.isNarrow) this.isDrawerOpen = !this.isDrawerOpen;
    else {
      this.isDocked = !this.isDocked;
      safeLocalStorage.write('sidebar', this.isDocked ? null : 'hidden');
    }
  }

  setGroupedByFolder(byFolder: boolean): void {
    this.isGroupedByFolder = byFolder;
    safeLocalStorage.write('chats', byFolder ? 'folders' : null);
  }

  openSearch(): void {
    if (!this.isSidebarVisible) this.toggleSidebar();
    this.isSearchRequested = true;
  }

  /** Answers to a shortcut until the returned function is called. An action that returns false leaves the key to the browser. */
  onShortcut(name: ShortcutName, action: ShortcutAction): () => void {
    this.#actions.set(name, action);
    return () => {
      if (this.#actions.get(name) === action) this.#actions.delete(name);
    };
  }

  /** Does what the keys would do. */
  runAction(name: ShortcutName): void {
    this.#actions.get(name)?.();
  }

  handleKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || isImeComposing(event)) return;
    const name = findShortcut(event, this.isApple, keyBindings.overrides);
    const action = name && this.#actions.get(name);
    if (!action) return;
    // Dialogs over the page and menus have Esc first.
    if (event.key === 'Escape' && document.querySelector('dialog:modal, [popover]:popover-open')) return;
    if (action() !== false) event.preventDefault();
  }
}

export const layout = new Layout();
