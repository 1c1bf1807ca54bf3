// What other features import of this one.
export { default as RecallSummary } from './RecallSummary.svelte';
