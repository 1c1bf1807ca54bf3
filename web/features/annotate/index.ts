// Exports for other features.
export { captureDrivenBrowser } from './capture-picture.ts';
export { NewDrawing } from './new-drawing.svelte.ts';
export { openInAnnotate } from './picture-handover.ts';
