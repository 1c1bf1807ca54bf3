interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
  /** Stays until it is dismissed. */
  sticky: boolean;
}

const TOAST_MS = 6_000;
/** Time to press the button of a toast. */
const ACTION_TOAST_MS = 10_000;

/** Short messages at the edge of the page. Errors do not belong here: they are shown where they occurred. */
class Toasts {
  list = $state<Toast[]>([]);
  #lastId = 0;

  show(text: string, { action, sticky = false }: { action?: Toast['action']; sticky?: boolean } = {}): number {
    const id = ++this.#lastId;
    this.list.push({ id, text, sticky, ...(action ? { action } : {}) });
    if (!sticky) setTimeout(() => this.dismiss(id), action ? ACTION_TOAST_MS : TOAST_MS);
    return id;
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
