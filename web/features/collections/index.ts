// Exports for other features: loaders, so that they come with the first use.
export { captureDrop, type DroppedItems, folderDrop, isCollectionDrop } from './folder-drop.svelte.ts';

/** Chips of the collections that are attached to a chat. */
export const loadAttachedCollections = () => import('./AttachedCollections.svelte');
/** Dialog that attaches collections to a chat. */
export const loadCollectionPicker = () => import('./CollectionPicker.svelte');
/** Field with the collections of an agent. */
export const loadCollectionChoices = () => import('./CollectionChoices.svelte');
/** Question whether to add a dropped folder to a collection. */
export const loadDropQuestion = () => import('./DropQuestion.svelte');
