// What other features import of this one.
export { default as SetupChoices } from './SetupChoices.svelte';
