// Exports for other features.
export { default as SetupChoices } from './SetupChoices.svelte';
