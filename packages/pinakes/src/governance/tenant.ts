/** The system's tenant that erasures, receipts and holds are kept under: nothing that removes a workspace removes them. */
export const governanceTenant = "pinakes.governance";
