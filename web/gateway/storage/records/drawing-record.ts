import type { Change } from '#shared/canvas/change.ts';

/** A drawing as it was created, with its title; later edits are stored as changes. */
export interface DrawingRecord {
  id: string;
  title: string;
  /** Width of the canvas in CSS pixels. */
  width: number;
  height: number;
  background: string | null;
  createdAt: number;
  /** How often it was restored from the trash. */
  restored?: number;
}

/** A change of a drawing (shared/canvas). */
export interface DrawingChange extends Change {
  /** `<drawing>/<shape>/<at>` */
  key: string;
}
