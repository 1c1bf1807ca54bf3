import { isImeComposing } from '#kit/is-ime-composing.ts';
import { type ShortcutName, findShortcut } from './shortcuts.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';
import { keyBindings } from './key-bindings.svelte.ts';

/** Media query of narrow screens, on which the sidebar is a drawer. */
const NARROW_QUERY = '(max-width: 767px)';

type ShortcutAction = () => unknown;

/** Open panels of the page, and the components that handle shortcuts. */
class Layout {
  readonly isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  isNarrow = $state(false);
  /** Whether the page fills the window, so that the sidebar is a drawer on wide screens too. */
  isFullBleed = $state(false);
  /** Whether the sidebar is open, on wide screens. */
  isDocked = $state(safeLocalStorage.read('sidebar') !== 'hidden');
  /** Whether the sidebar groups chats in folders by folder instead of by date. */
  isGroupedByFolder = $state(safeLocalStorage.read('chats') === 'folders');
  /** Whether the drawer with the sidebar is open, on narrow screens. */
  isDrawerOpen = $state(false);
  isModelsOpen = $state(false);
  isHelpOpen = $state(false);
  isPaletteOpen = $state(false);
  readonly #actions = new Map<ShortcutName, ShortcutAction>();

  readonly hasDrawer = $derived(this.isNarrow || this.isFullBleed);

  constructor() {
    if (import.meta.env.SSR) return;
    const narrow = matchMedia(NARROW_QUERY);
    this.isNarrow = narrow.matches;
    narrow.addEventListener('change', () => {
      this.isNarrow = narrow.matches;
      this.isDrawerOpen = false;
    });
  }

  toggleSidebar(): void {
    if (this.hasDrawer) this.isDrawerOpen = !this.isDrawerOpen;
    else {
      this.isDocked = !this.isDocked;
      safeLocalStorage.write('sidebar', this.isDocked ? null : 'hidden');
    }
  }

  setGroupedByFolder(byFolder: boolean): void {
    this.isGroupedByFolder = byFolder;
    safeLocalStorage.write('chats', byFolder ? 'folders' : null);
  }

  /** Opens the palette, unless a dialog is open: it would be behind it. */
  openPalette(): void {
    this.isDrawerOpen = false;
    for (const panel of document.querySelectorAll<HTMLElement>('[popover]:popover-open')) panel.hidePopover();
    this.isPaletteOpen = document.querySelector('dialog:modal:not(.drawer)') === null;
  }

  /** Registers the action of a shortcut. If the action returns false, the browser handles the key. Returns a function that removes it. */
  onShortcut(name: ShortcutName, action: ShortcutAction): () => void {
    this.#actions.set(name, action);
    return () => {
      if (this.#actions.get(name) === action) this.#actions.delete(name);
    };
  }

  /** Whether a shortcut does something now. */
  hasAction(name: ShortcutName): boolean {
    return this.#actions.has(name);
  }

  /** Runs the action of a shortcut. */
  runAction(name: ShortcutName): void {
    this.#actions.get(name)?.();
  }

  handleKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || isImeComposing(event)) return;
    const name = findShortcut(event, this.isApple, keyBindings.overrides);
    const action = name && this.#actions.get(name);
    if (!action) return;
    // Open dialogs and menus handle Esc first.
    if (event.key === 'Escape' && document.querySelector('dialog:modal, [popover]:popover-open')) return;
    if (action() !== false) event.preventDefault();
  }
}

export const layout = new Layout();
