export { default as Approvals } from './ApprovalCards.svelte';
export { default as ComparedLink } from './compare/ComparisonLink.svelte';
export { default as ContextGauge } from './ContextGauge.svelte';
export { default as Files } from '#app/files/FileChips.svelte';
export { default as Gone } from './MissingChat.svelte';
export { default as MessageList } from './MessageList.svelte';
export { default as ParentLink } from './sub-agents/ParentLink.svelte';
export { default as Queue } from './MessageQueue.svelte';
