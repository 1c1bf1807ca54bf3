// Exports for other features.
export { default as StorageSettings } from './StorageSettings.svelte';
