/** Reason of a signal that ends a question because a person has approved the same in another place, such as the Tools page. */
export const APPROVED_ELSEWHERE = new Error('Approved elsewhere');
