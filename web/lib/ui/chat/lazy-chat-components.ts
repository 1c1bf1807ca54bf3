export { default as Approvals } from './ApprovalCards.svelte';
export { default as ComparedLink } from './ComparisonLink.svelte';
export { default as ContextGauge } from './ContextGauge.svelte';
export { default as Files } from './FileChips.svelte';
export { default as Gone } from './MissingChat.svelte';
export { default as MessageList } from './MessageList.svelte';
export { default as Queue } from './MessageQueue.svelte';
