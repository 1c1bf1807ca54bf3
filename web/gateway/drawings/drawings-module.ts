import { defineModule } from '../system/modules.ts';
import type { DrawingStoreDeps } from './drawing-store.ts';

/** Drawings. */
export const drawingsModule = defineModule<DrawingStoreDeps>()({
  name: 'drawings',
  needs: ['vault', 'hub', 'clock', 'fault'],
  load: async (needs) => new (await import('./drawing-store.ts')).DrawingStore(needs),
  wakeOn: { changes: ['drawings', 'drawingChanges'] },
  onChanges: (drawings, changes) => drawings.handleRemoteChanges(changes),
  stop: (drawings) => drawings.stop(),
});
