// Exports for other features.
export { default as BuiltInModelRow } from './BuiltInModelRow.svelte';
export { default as DefaultModel } from './DefaultModel.svelte';
export { default as DownloadForm } from './DownloadForm.svelte';
export { default as DownloadRow } from './DownloadRow.svelte';
export { default as FallbackList } from './FallbackList.svelte';
export { default as ProviderForm } from './ProviderForm.svelte';
