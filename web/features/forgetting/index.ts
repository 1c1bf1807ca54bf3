// Exports for other features.
export { default as ForgetButton } from './ForgetButton.svelte';
