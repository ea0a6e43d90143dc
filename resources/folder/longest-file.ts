/**
 * Largest size of a file of resources, in bytes. It is more than ten times what 10,000 Mappings
 * take.
 */
export const LONGEST_FILE = 32 * 1024 * 1024;
