/** Name on an IRC network for comparisons: lower case of ASCII letters only, since no others are the same on all servers. */
export const toIrcKey = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
