// Exports for other features.
export { default as OriginButton } from './OriginButton.svelte';
export { default as OriginCheck } from './OriginCheck.svelte';
