import { tick } from 'svelte';

interface Action {
  label: string;
  run: () => void;
}

const TOAST_MS = 6_000;
/** Time to press the button of a toast. */
const ACTION_TOAST_MS = 10_000;

/**
 * Short messages at the edge of the page, shown by svelte-sonner, which is loaded with the first one. Errors do not belong here: they are
 * shown where they occurred.
 */
class Toasts {
  /** Whether there was a toast, so that the page needs a place for them. */
  isNeeded = $state(false);
  #lastId = 0;
  #loading: Promise<typeof import('svelte-sonner')> | undefined;

  /** `sticky`: stays until it is dismissed. Returns an ID. */
  show(text: string, { action, sticky = false }: { action?: Action; sticky?: boolean } = {}): string {
    const id = `toast-${++this.#lastId}`;
    this.#run(({ toast }) => {
      const duration = sticky ? Infinity : action ? ACTION_TOAST_MS : TOAST_MS;
      toast(text, { id, class: id, duration, ...(action ? { action: { label: action.label, onClick: action.run } } : {}) });
    });
    return id;
  }

  dismiss(id: string): void {
    this.#run(({ toast }) => toast.dismiss(id));
  }

  /** Moves the focus to the button of a toast, if the element that had it is gone. */
  focusLost(id: string): void {
    this.#run(async () => {
      await tick();
      if (document.activeElement === document.body) document.querySelector<HTMLElement>(`.${id} [data-button]`)?.focus();
    });
  }

  /** Loads what shows toasts, before it may be missing on the server. */
  load(): void {
    this.#run(() => {});
  }

  #run(work: (sonner: typeof import('svelte-sonner')) => unknown): void {
    this.isNeeded = true;
    this.#loading ??= import('svelte-sonner');
    // A missing chunk is reported by `missing-chunks.ts`; the next toast tries again.
    void this.#loading.then(work, () => (this.#loading = undefined));
  }
}

export const toasts = new Toasts();
