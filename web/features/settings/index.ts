// What other features import of this one.
export { default as StorageSettings } from './StorageSettings.svelte';
