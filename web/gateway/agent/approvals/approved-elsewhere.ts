/** Abort reason for a question whose subject a person has approved elsewhere, such as on the Tools page. */
export const APPROVED_ELSEWHERE = new Error('Approved elsewhere');
