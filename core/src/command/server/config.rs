stub
