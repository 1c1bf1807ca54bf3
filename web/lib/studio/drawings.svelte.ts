import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { DrawingEntry } from '#shared/rpc/methods/drawing-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/page-messages.ts';
import type { PictureData } from './read-picture.ts';

/** CSS pixels of an empty sheet. */
const BLANK_SIZE = { width: 1600, height: 1000 };

/** All drawings, as the page that lists them has them. */
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

  /** A new drawing on a picture, or on an empty sheet; its id. */
  async create(title: string, picture?: PictureData): Promise<string> {
    const { width, height } = picture ?? BLANK_SIZE;
    const drawing = new Drawing({ width, height, background: '#ffffff' });
    if (picture) new Editor(drawing).add('image', { x: 0, y: 0, width, height, src: picture.src, locked: true });
    return this.createCopy(title, drawing);
  }

  /** A new one with what another, as of a file, has on it. */
  async createCopy(title: string, drawing: Drawing): Promise<string> {
    const { width, height, background } = drawing.page;
    const made = await gateway.call('drawings.create', { title, width, height, background, changes: drawing.history() });
    return made.id;
  }

  async remove({ id }: DrawingEntry): Promise<void> {
    await gateway.call('drawings.delete', { drawingId: id });
    this.list = this.list?.filter((each) => each.id !== id) ?? null;
  }
}

export const drawings = new Drawings();
