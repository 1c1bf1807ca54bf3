// Exports for other features.
export { default as ConnectionSettings } from './ConnectionSettings.svelte';
export { default as StorageSettings } from './StorageSettings.svelte';
