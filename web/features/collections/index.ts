// Exports for other features: loaders, so that they come with the first use.
import { withMessages } from '#app/i18n/load-messages.ts';

export { captureDrop, type DroppedItems, folderDrop, isCollectionDrop } from './folder-drop.svelte.ts';

/** Chips of the collections that are attached to a chat. */
export const loadAttachedCollections = () => withMessages(import('./AttachedCollections.svelte'));
/** Dialog that attaches collections to a chat. */
export const loadCollectionPicker = () => withMessages(import('./CollectionPicker.svelte'));
/** Field with the collections of an agent. */
export const loadCollectionChoices = () => withMessages(import('./CollectionChoices.svelte'));
/** Question whether to add a dropped folder to a collection. */
export const loadDropQuestion = () => withMessages(import('./DropQuestion.svelte'));
