import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { DrawingEntry } from '#shared/rpc/methods/drawing-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { offerUndo } from '#app/state/offer-undo.ts';
import type { PictureData } from './read-picture.ts';

/** Size of a blank drawing in CSS pixels. */
const BLANK_SIZE = { width: 1600, height: 1000 };

/** The list of all drawings. */
class Drawings {
  /** Last changed first; null before the first answer. */
  list = $state.raw<DrawingEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('drawings.changed', () => void this.load());
  }

  async load(): Promise<void> {
    try {
      const { drawings } = await gateway.call('drawings.list', {});
      this.list = drawings;
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.annotate_doing_read_list());
    }
  }

  /** Creates a drawing on a picture, or a blank one, and returns its id. */
  async create(title: string, picture?: PictureData): Promise<string> {
    const { width, height } = picture ?? BLANK_SIZE;
    const drawing = new Drawing({ width, height, background: '#ffffff' });
    if (picture) new Editor(drawing).add('image', { x: 0, y: 0, width, height, src: picture.src, locked: true });
    return this.createCopy(title, drawing);
  }

  /** Creates a drawing with the content of another one and returns its id. `outside`: sources, if others may have made it. */
  async createCopy(title: string, drawing: Drawing, outside?: string[]): Promise<string> {
    const { width, height, background } = drawing.page;
    const changes = drawing.history();
    const created = await gateway.call('drawings.create', { title, width, height, background, changes, ...(outside ? { outside } : {}) });
    return created.id;
  }

  /** Moves a drawing to the trash and offers Undo. */
  async remove({ id, title }: DrawingEntry): Promise<void> {
    const { trashId } = await gateway.call('drawings.delete', { drawingId: id });
    offerUndo(m.annotate_deleted({ title }), trashId === undefined ? [] : [trashId]);
    this.list = this.list?.filter((each) => each.id !== id) ?? null;
  }
}

export const drawings = new Drawings();
