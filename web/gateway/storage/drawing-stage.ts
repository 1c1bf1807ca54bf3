import type { DrawingRecord } from './records/drawing-record.ts';

/**
 * Fence of a drawing's record: grows with each deletion and restoration. Without it a rename that another host stored concurrently would bring
 * a deleted drawing back.
 */
export const getDrawingStage = ({ restored = 0 }: DrawingRecord): number => 2 * restored;
